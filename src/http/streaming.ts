import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A body that is made while it is sent. */
export interface StreamedBody {
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /** What it is made of, and stays in memory until the end. */
  holds: readonly ArrayBufferView[]
  /** The head is gone by then, so the connection is cut; this tells those who should know. */
  onFailure(error: unknown): void
}

/**
 * A socket takes what it can at once, and says that it is drained before anyone else has had a turn: a fast client
 * would keep them all waiting to the end.
 */
const chunksInARow = 4

/** Sends chunk after chunk, each when the one before is on its way: a slow reader holds one of them, not all. */
export async function sendStream(
  response: ServerResponse,
  { chunks, onFailure }: StreamedBody,
): Promise<void> {
  try {
    let inARow = 0
    for await (const chunk of chunks) {
      if (response.destroyed) return
      if (!response.write(chunk)) await drained(response)
      if (++inARow < chunksInARow) continue
      inARow = 0
      await nextTurn()
    }
    response.end()
  } catch (error) {
    response.destroy()
    onFailure(error)
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    function done() {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
  })
}
