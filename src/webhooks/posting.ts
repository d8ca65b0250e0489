import type { Clock } from '../clock.ts'
import { createExchangeThreads } from './exchange/exchange-threads.ts'
import { TargetRefusal, type Targets } from './targets.ts'

/** Sends one request and reads the beginning of its answer. Never throws: a receiver that fails is an everyday thing. */
export interface Posting {
  close(): Promise<void>
  post(message: PostedMessage, left: AbortSignal): Promise<Posted>
}

export interface PostedMessage {
  accountId: string
  url: string
  headers: Record<string, string>
  body: string
}

export interface Posted {
  /** null when no answer came. */
  status: number | null
  /** Why it does not count as taken, in half a sentence; null when it was. */
  failure: string | null
  /** The first lines. */
  answer: string
  /** What the receiver asks for. */
  retryAfterMs: number | null
}

export interface PostingParts {
  targets: Targets
  clock: Pick<Clock, 'nowMs' | 'elapsedMs'>
  /** Certificates that are believed beside those that Node believes. */
  ca?: string
}

const answerWithinMs = 15_000

export function createPosting({ targets, clock, ca }: PostingParts): Posting {
  const threads = createExchangeThreads(clock)
  return {
    close: () => threads.close(),
    async post({ accountId, url, headers, body }, left) {
      const deadline = AbortSignal.any([left, AbortSignal.timeout(answerWithinMs)])
      const target = await Promise.race([targets.find(url), whenAborted(deadline)])
      if (target === null) return failedPost(left.aborted ? 'it was broken off' : tooLate)
      if (target instanceof TargetRefusal) return failedPost(target.reason)
      const wish = { url: target.url.href, addresses: target.addresses, headers, body, ca }
      const exchanged = await Promise.race([
        threads.exchange(accountId, wish, deadline),
        whenAborted(deadline),
      ])
      if (exchanged === null) return failedPost(left.aborted ? 'it was broken off' : tooLate)
      if ('failure' in exchanged) return failedPost(exchanged.failure)
      const { status, answer, retryAfter } = exchanged
      return {
        status,
        failure: failureOf(status),
        answer,
        retryAfterMs: retryAfterMsOf(retryAfter, clock.nowMs()),
      }
    },
  }
}

function failureOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) return `it returned ${status}, and redirects are not followed`
  return `it returned ${status}`
}

/** In seconds, or a date, which is told by the clock of somebody else. */
function retryAfterMsOf(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}

const tooLate = `no response came within ${answerWithinMs / 1_000} seconds`

function failedPost(failure: string): Posted {
  return { status: null, failure, answer: '', retryAfterMs: null }
}

function whenAborted(signal: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null)
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }))
}
