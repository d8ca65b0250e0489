import { newAttempt, reach, send } from '../../api.ts'
import { basePath } from '../../base-path.ts'

/** Everything that one request needs, as it was on the screen when it was asked for. */
export interface ClientRequest {
  /** The sheet's slug. */
  slug: string
  method: string
  /** With its query. */
  path: string
  body: string | null
  ifMatch?: string | null
  /** Whoever asked has left: then nothing is sent any more. */
  isLeft?(): boolean
}

export interface ClientResponse {
  response: Response
  text: string
  durationMs: number
}

/** Good by this browser's clock alone: the server's may be another. */
interface HeldKey {
  value: string
  goodUntilMs: number
}

/** Fetched with the first request to a sheet, and then kept for as long as this tab is open. */
const heldKeys = new Map<string, HeldKey>()

/** Whoever has waited for longer does not expect it any more. */
const longestKeyWaitMs = 5_000
const noKeyInTime = 'Rowport is slow to respond. Nothing was sent. Try again.'

/**
 * A real request to the public API, from this browser, with a key of its own. Another tab may have taken the key's place; then
 * the request was refused before anything was done, and goes once more with a new one.
 */
export async function askAsClient(asked: ClientRequest): Promise<ClientResponse> {
  const attempt = newAttempt()
  const first = await askWithKey(asked, attempt)
  if (!isKeyRefused(first)) return first
  heldKeys.delete(asked.slug)
  return askWithKey(asked, attempt)
}

async function askWithKey(
  { slug, method, path, body, ifMatch, isLeft }: ClientRequest,
  attempt: string,
): Promise<ClientResponse> {
  const key = await keyValue(slug)
  if (isLeft?.()) throw new Error('The page was left before anything was sent.')
  const begunMs = performance.now()
  const { response, text } = await reach(basePath + path, {
    method,
    credentials: 'omit',
    cache: 'no-store',
    headers: {
      Authorization: `Bearer ${key}`,
      // The browser may send it again by itself when a response is lost.
      ...(method === 'GET' ? {} : { 'Idempotency-Key': attempt }),
      ...(ifMatch ? { 'If-Match': ifMatch } : {}),
      ...(body === null ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === null ? {} : { body }),
  })
  return { response, text, durationMs: performance.now() - begunMs }
}

function isKeyRefused({ response, text }: ClientResponse): boolean {
  return response.status === 403 && /"code": ?"(?:invalid_api_key|forbidden)"/.test(text)
}

/** A key that comes too late is kept for the next request. */
async function keyValue(slug: string): Promise<string> {
  const held = heldKeys.get(slug)
  if (held && held.goodUntilMs >= Date.now()) return held.value
  const asked = send('POST /sheets/{slug}/console-key', { names: { slug } }).then(({ value, lifeMs }) => {
    heldKeys.set(slug, { value, goodUntilMs: Date.now() + lifeMs })
    return value
  })
  const { promise: isLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(noKeyInTime)), longestKeyWaitMs)
  return Promise.race([asked, isLate]).finally(() => clearTimeout(timer))
}
