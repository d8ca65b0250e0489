import type { Socket } from 'node:net'
import type { LoopTurns } from '../shares/loop-turns.ts'

/**
 * What connections bring, taken in turns. Node hands all that has come on a connection to its parser in one go: thousands of
 * requests, or ten thousand chunks of a body, before anybody else is looked at. Here it is taken in pieces; when a round has
 * used its time, the rest waits, and the networks that callers come from take turns.
 */
export interface Arrivals {
  /** To be told of a new connection, once Node listens to it. */
  takeInTurns(socket: Socket, network: string): void
}

/**
 * Room for 300 of the shortest requests, or 1,400 chunks of one byte: three milliseconds. Much smaller pieces would make many
 * of a body that is a single one.
 */
const pieceBytes = 8 * 1_024

/** `isOver`: whether nothing that still comes on a connection is to be read. */
export function createArrivals(turns: LoopTurns, isOver: (socket: Socket) => boolean): Arrivals {
  return {
    takeInTurns(socket, network) {
      const [parse] = socket.listeners('data')
      if (!parse) throw new Error('Node does not listen to a new connection')
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
    },
  }
}
