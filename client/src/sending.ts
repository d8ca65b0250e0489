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
  /** Goes on until the signal says so: whoever follows waits for a server that is away. */
  isEndless?: boolean
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

  return async ({ method, url, headers, body, signal, isEndless = false }) => {
    const init: RequestInit = {
      method,
      headers: { ...(key && { Authorization: `Bearer ${key}` }), ...headers },
    }
    if (body !== undefined) init.body = JSON.stringify(body, refuseNoNumber)
    for (let attempt = 0; ; attempt++) {
      const limit = AbortSignal.timeout(attemptMs)
      init.signal = signal ? AbortSignal.any([signal, limit]) : limit
      const isLast = attempt >= retries && !isEndless
      let waitMs = Math.min(250 * 2 ** Math.min(attempt, 5), 8_000) * (0.5 + Math.random() / 2)
      try {
        const response = await send(url, init)
        const text = await response.text()
        if (response.status === 304 || (response.ok && isWhole(text)))
          return { status: response.status, headers: response.headers, text }
        const error = errorIn(response, text)
        if (isLast || !isPassing(error) || (error.retryAfter ?? 0) > longestWait) throw error
        if (error.retryAfter !== null) waitMs = error.retryAfter * 1_000
      } catch (error) {
        if (isLast || signal?.aborted || error instanceof RowportError) throw error
      }
      await sleepUnlessAborted(sleep(waitMs), signal)
      signal?.throwIfAborted()
    }
  }
}

function pause(ms: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function sleepUnlessAborted(sleeping: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      signal?.removeEventListener('abort', end)
      resolve()
    }
    signal?.addEventListener('abort', end)
    void sleeping.then(end, end)
  })
}

/** JSON has neither, and would say null instead: the cell would be emptied. */
function refuseNoNumber(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${name} is ${value}, which no sheet can hold.`)
  return value
}

/** What was cut off on its way, or is something else's page, was not sent by the server. */
function isWhole(text: string): boolean {
  const [first, last] = [text.trimStart()[0], text.trimEnd().at(-1)]
  return (first === '[' && last === ']') || (first === '{' && last === '}')
}

function isPassing({ status, code }: RowportError): boolean {
  return [429, 502, 503, 504].includes(status) || code === 'idempotency_in_progress' || status < 300
}

/** The body may have either form of error; a proxy may say something else. */
function errorIn({ status, headers }: Response, text: string): RowportError {
  const wait = headers.get('retry-after') ?? ''
  const seconds = /^\d+$/.test(wait) ? Number(wait) : Math.ceil((Date.parse(wait) - Date.now()) / 1_000)
  const retryAfter = Number.isFinite(seconds) ? Math.max(0, seconds) : null
  const unknown = () =>
    new RowportError(status, 'no_answer', `The server answered ${status}.`, undefined, retryAfter)
  try {
    const { error, code, details } = JSON.parse(text)
    const told = typeof error === 'object' && error !== null ? error : { code, message: error, details }
    if (typeof told.code !== 'string') return unknown()
    return new RowportError(status, told.code, told.message, told.details, retryAfter)
  } catch {
    return unknown()
  }
}
