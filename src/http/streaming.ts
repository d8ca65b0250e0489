import type { ServerResponse } from 'node:http'
import type { Soon } from '../soon.ts'
import { idleTimers, type Timers } from '../timers.ts'

/** A body that is too long to be sent in one go, or that is made while it is sent. */
export interface StreamedBody {
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /** null where it is not known before the end. */
  bytes: number | null
  /** What it is made of, and stays in memory until the end. */
  holds: readonly ArrayBufferView[]
  /** Whose turn it has to be for each piece. */
  nextTurn(): Soon<void>
  /**
   * How long its reader may leave a piece lying before the connection is cut, where an answer has a place that others wait for. The
   * clock of the connection does not do for that: it begins anew with every byte that the reader sends.
   */
  mostUnreadMs?: number
  /** The head is gone by then, so the connection is cut; this tells those who should know. */
  onFailure(error: unknown): void
}

/** What the system copies for one write: hundreds of readers of one list may be ready for more in the same moment. */
const sliceBytes = 64 * 1024

/**
 * Sends piece after piece, each when the one before is on its way and its reader has a turn: a slow reader holds one of
 * them, not all, and a fast one, whose socket takes what it is given at once, does not keep the others waiting to the end.
 */
export async function sendStream(
  response: ServerResponse,
  { chunks, nextTurn, mostUnreadMs, onFailure }: StreamedBody,
  timers: Timers = idleTimers,
): Promise<void> {
  try {
    for await (const chunk of chunks) {
      for (let from = 0; from < chunk.byteLength; from += sliceBytes) {
        const turn = nextTurn()
        if (turn instanceof Promise) await turn
        if (response.destroyed) return
        const slice = chunk.byteLength <= sliceBytes ? chunk : chunk.subarray(from, from + sliceBytes)
        response.write(slice)
        handOver(response)
        if (response.writableNeedDrain) await waitForDrain(response, mostUnreadMs, timers)
      }
    }
    response.end()
  } catch (error) {
    response.destroy()
    onFailure(error)
  }
}

/**
 * Node would hand it to the system later, with all that others write in the same round: outside of any turn. It holds back the answer
 * as well as its connection, and whoever lets go of the connection alone has the length of a piece, its line ends and the piece
 * itself written one by one.
 */
function handOver(response: ServerResponse): void {
  // One that is let go of and was not held back is held back from then on.
  if (response.writableCorked > 0) response.uncork()
  else response.socket?.uncork()
}

function waitForDrain(
  response: ServerResponse,
  mostUnreadMs: number | undefined,
  timers: Timers,
): Promise<void> {
  return new Promise((resolve) => {
    const stopWaiting = mostUnreadMs === undefined ? null : timers.after(mostUnreadMs, cut)
    function cut() {
      response.destroy()
      // An answer that waits behind another one on its connection does not tell that it was closed.
      settleOnce()
    }
    function settleOnce() {
      stopWaiting?.()
      response.off('drain', settleOnce)
      response.off('close', settleOnce)
      resolve()
    }
    response.on('drain', settleOnce)
    response.on('close', settleOnce)
  })
}
