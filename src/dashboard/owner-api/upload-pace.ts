import type { IncomingMessage } from 'node:http'
import { goesAtItsOwnPace } from '../../http/own-pace.ts'

/** How an upload may take its time: as long as each of these spans brings this much, or the end. */
export interface UploadPace {
  spanMs: number
  bytesPerSpan: number
}

/** 2 KB a second: less than any line on which somebody would wait for it, more than a client that only holds a place. */
const usualPace: UploadPace = { spanMs: 30_000, bytesPerSpan: 64 * 1024 }

export class TooSlow extends Error {}

/** The body, for as long as it keeps coming; ends with `TooSlow` when it does not. */
export async function* bodyAtItsPace(
  request: IncomingMessage,
  { spanMs, bytesPerSpan }: UploadPace = usualPace,
): AsyncGenerator<Buffer> {
  goesAtItsOwnPace(request)
  const chunks = (request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)[
    Symbol.asyncIterator
  ]()
  let spanBytes = 0
  const { promise: tooSlow, reject } = Promise.withResolvers<never>()
  tooSlow.catch(() => {})
  const timer = setInterval(() => {
    if (spanBytes < bytesPerSpan) reject(new TooSlow())
    spanBytes = 0
  }, spanMs)
  try {
    for (;;) {
      const { done, value } = await Promise.race([chunks.next(), tooSlow])
      if (done) return
      spanBytes += value.length
      yield value
    }
  } finally {
    clearInterval(timer)
  }
}
