import type { Socket } from 'node:net'
import type { Clock } from '../clock.ts'
import type { LoopTurns } from '../shares/loop-turns.ts'

/**
 * What connections bring. Node hands all that has come on a connection to its parser in one go: thousands of requests, or ten
 * thousand chunks of a body, before anybody else is looked at. Whoever waits for an answer before the next request never
 * notices, and has Node's own way, which is the fastest. Where one does not wait, all connections of its network are taken in
 * pieces from then on; when a round has used its time, the rest waits, and the networks that callers come from take turns.
 */
export interface Arrivals {
  /** A new connection, once Node listens to it. */
  begin(socket: Socket, network: string): void
  /** It sent a request without waiting for an answer, or a body in chunks. */
  noteHaste(socket: Socket): void
}

/**
 * Room for 300 of the shortest requests, or 1,400 chunks of one byte: three milliseconds. Much smaller pieces would make many
 * of a body that is a single one.
 */
const pieceBytes = 8 * 1_024

/** A network's new connections are taken in turns from their first byte for so long after its last haste. */
const hasteMs = 60_000
/** Networks whose haste is remembered: a few megabytes. Of those with connections, there are no more than connections. */
const mostHastyNetworks = 20_000

/** `isOver`: whether nothing that still comes on a connection is to be read. */
export function createArrivals(
  turns: LoopTurns,
  clock: Pick<Clock, 'elapsedMs'>,
  isOver: (socket: Socket) => boolean,
): Arrivals {
  const networkOf = new WeakMap<Socket, string>()
  const openOf = new Map<string, Set<Socket>>()
  const hastySinceMs = new Map<string, number>()
  const inTurns = new WeakSet<Socket>()
  const resuming = new WeakSet<Socket>()

  return {
    begin(socket, network) {
      networkOf.set(socket, network)
      const open = openOf.get(network) ?? new Set()
      openOf.set(network, open.add(socket))
      socket.once('close', () => {
        if (open.delete(socket) && open.size === 0) openOf.delete(network)
      })
      if (wasHasty(network)) takeInTurns(socket, network)
    },
    noteHaste(socket) {
      const network = networkOf.get(socket)
      if (network === undefined) return
      const isKnown = wasHasty(network)
      hastySinceMs.delete(network)
      hastySinceMs.set(network, clock.elapsedMs())
      const [oldest] = hastySinceMs.size > mostHastyNetworks ? hastySinceMs.keys() : []
      if (oldest !== undefined) hastySinceMs.delete(oldest)
      // The others may be about to do the same, all at once.
      if (!isKnown) for (const each of openOf.get(network) ?? []) takeInTurns(each, network)
    },
  }

  function wasHasty(network: string): boolean {
    const sinceMs = hastySinceMs.get(network)
    return sinceMs !== undefined && clock.elapsedMs() - sinceMs < hasteMs
  }

  function takeInTurns(socket: Socket, network: string): void {
    const [parse] = socket.listeners('data')
    if (inTurns.has(socket) || isOver(socket) || !parse) return
    if (socket.isPaused()) {
      // Node would not begin to read again: its parser has stopped the handle, and the stream believes that it is being read.
      if (!resuming.has(socket))
        socket.once('resume', () => resuming.delete(socket) && takeInTurns(socket, network))
      resuming.add(socket)
      return
    }
    inTurns.add(socket)
    const { pause, resume } = socket
    /** Node's own wish: a body that nobody reads yet, or answers that the client does not read. */
    let isPausedByNode = false
    let isWaiting = false
    let isItsTurn = false
    socket.pause = () => {
      isPausedByNode = true
      return pause.call(socket)
    }
    socket.resume = () => {
      isPausedByNode = false
      return isWaiting ? socket : resume.call(socket)
    }
    // Node gives the bytes back from its parser to the stream when somebody else listens.
    socket.removeListener('data', parse as (bytes: NonSharedBuffer) => void)
    socket.on('data', take)

    function take(bytes: NonSharedBuffer): void {
      if (isItsTurn) {
        parse?.call(socket, bytes)
        return
      }
      for (let from = 0; from < bytes.length; from += pieceBytes) {
        if (isOver(socket)) return
        const turn = isPausedByNode ? undefined : turns.next(network)
        if (turn) wait(turn)
        // The stream keeps it, so that the end of what the client sends does not overtake it.
        if (turn || isPausedByNode) {
          socket.unshift(from === 0 ? bytes : bytes.subarray(from))
          return
        }
        parse?.call(socket, bytes.length <= pieceBytes ? bytes : bytes.subarray(from, from + pieceBytes))
      }
    }

    function wait(turn: Promise<void>): void {
      isWaiting = true
      pause.call(socket)
      void turn.then(takeNext)
    }

    function takeNext(): void {
      if (isMoreThere()) {
        isItsTurn = true
        // It comes back by the event.
        socket.read(Math.min(pieceBytes, socket.readableLength))
        isItsTurn = false
      }
      const turn = isMoreThere() ? turns.next(network) : undefined
      if (turn) {
        wait(turn)
        return
      }
      isWaiting = false
      if (!isPausedByNode) resume.call(socket)
    }

    function isMoreThere(): boolean {
      return !isPausedByNode && !isOver(socket) && socket.readableLength > 0
    }
  }
}
