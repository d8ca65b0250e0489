import type { IncomingMessage } from 'node:http'

/**
 * Requests whose body has a time limit of its own, so that the one for all requests does not hold for them: a large file
 * over a slow line takes longer than any call should. Whoever adds one to it cuts it off when it stops moving.
 */
const paced = new WeakSet<IncomingMessage>()

export function goesAtItsOwnPace(request: IncomingMessage): void {
  paced.add(request)
}

export function isAtItsOwnPace(request: IncomingMessage | undefined): boolean {
  return request !== undefined && paced.has(request)
}
