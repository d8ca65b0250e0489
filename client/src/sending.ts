export interface Options {
  /** Left out for a sheet that is open for reading. */
  key?: string
  /** How often a request is sent again when it is safe to; 6 unless given. */
  retries?: number
  /** Whoever must wait longer is told so instead, in seconds; 60 unless given. */
  longestWait?: number
  fetch?: typeof fetch
  sleep?: (ms: number) => Promise<unknown>
}

/** What the server said no to; `code` is one of its table of errors. */
export class RowportError extends Error {
  override readonly name = 'RowportError'
  readonly status: number
  readonly code: string
  readonly details: unknown
  /** In seconds; null where the server did not say when to come again. */
  readonly retryAfter: number | null

  constructor(status: number, code: string, message: string, details: unknown, retryAfter: number | null) {
    super(typeof details === 'string' ? `${message} ${details}` : message)
    this.status = status
    this.code = code
    this.details = details
    this.retryAfter = retryAfter
  }
}

export interface Sent {
  method: string
  url: string
  headers?: Record<string, string>
  body?: unknown
  signal?: AbortSignal | undefined
}

export interface Answer {
  status: number
  headers: Headers
  text: string
}

/** An attempt that takes longer was lost on its way: the server itself gives up on a write after half a minute. */
const attemptMs = 90_000

export type Send = (sent: Sent) => Promise<Answer>

/**
 * Sends again what found nobody, too much traffic or a passing failure, and what is still being worked on. That is safe for writes,
 * because each has an `Idempotency-Key`: the same one is done once.
 */
export function createSend(options: Options): Send {
  const { key, retries = 6, longestWait = 60, sleep = pause } = options
  const send = options.fetch ?? fetch

  return async ({ method, url, headers, body, signal }) => {
    const init: RequestInit = {
      method,
      headers: { ...(key && { Authorization: `Bearer ${key}` }), ...headers },
    }
    if (body !== undefined) init.body = JSON.stringify(body)
    for (let attempt = 0; ; attempt++) {
      const limit = AbortSignal.timeout(attemptMs)
      init.signal = signal ? AbortSignal.any([signal, limit]) : limit
      const isLast = attempt >= retries
      let waitMs = Math.min(250 * 2 ** attempt, 8_000) * (0.5 + Math.random() / 2)
      try {
        const response = await send(url, init)
        const text = await response.text()
        if (response.ok || response.status === 304)
          return { status: response.status, headers: response.headers, text }
        const error = errorIn(response, text)
        if (isLast || !isPassing(error) || (error.retryAfter ?? 0) > longestWait) throw error
        if (error.retryAfter !== null) waitMs = error.retryAfter * 1_000
      } catch (error) {
        if (isLast || signal?.aborted || error instanceof RowportError) throw error
      }
      await Promise.race([sleep(waitMs), waitForAbort(signal)])
      signal?.throwIfAborted()
    }
  }
}

function pause(ms: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function waitForAbort(signal: AbortSignal | undefined): Promise<unknown> {
  return new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }))
}

function isPassing({ status, code }: RowportError): boolean {
  return [429, 502, 503, 504].includes(status) || code === 'idempotency_in_progress'
}

/** The body may have either form of error; a proxy may say something else. */
function errorIn({ status, headers }: Response, text: string): RowportError {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  const retryAfter = Number.isFinite(seconds) ? seconds : null
  try {
    const { error, code, details } = JSON.parse(text)
    if (typeof error === 'object')
      return new RowportError(status, error.code, error.message, error.details, retryAfter)
    return new RowportError(status, code, error, details, retryAfter)
  } catch {
    return new RowportError(status, 'no_answer', `The server answered ${status}.`, undefined, retryAfter)
  }
}
