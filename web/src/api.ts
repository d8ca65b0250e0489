import type { ApiRefusal, RecentSignInRequired } from '../../src/dashboard/contract.ts'
import { basePath } from './base-path.ts'

/** The owner's API said no; `field` names the input it is about. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly field: string | null

  constructor(status: number, { error }: ApiRefusal) {
    super(error.message)
    this.status = status
    this.code = error.code
    this.field = error.field ?? null
  }
}

const unreachable: ApiRefusal = {
  error: { code: 'unreachable', message: 'Rowport cannot be reached. Check your connection and try again.' },
}
const recentSignInRequired: RecentSignInRequired = 'recent_sign_in_required'

/** Asks the owner to show that it is they; false when they would rather not. */
/** `path`: of what asks for it. */
type Confirm = (path: string) => Promise<boolean>
let confirm: Confirm = async () => false

export function confirmWith(ask: Confirm): void {
  confirm = ask
}

export function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return call<Answer>('GET', path, undefined, signal)
}

/** What needs a recent sign-in asks for one and goes on, so that no page has to think of it. */
export async function send<Answer>(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  input?: unknown,
): Promise<Answer> {
  const attempt = () => call<Answer>(method, path, input === undefined ? undefined : JSON.stringify(input))
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== recentSignInRequired) throw error
    if (!(await confirm(path))) throw error
    return attempt()
  }
}

/** A file goes as its bytes. `fetch` cannot tell how far it is, so this is the older way. */
export function upload<Answer>(path: string, file: File, onSent: (share: number) => void): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const request = new XMLHttpRequest()
  request.open('POST', addressOf(path))
  request.setRequestHeader('X-Rowport-Dashboard', '1')
  request.responseType = 'json'
  request.upload.onprogress = ({ loaded, total }) => onSent(total === 0 ? 0 : loaded / total)
  request.onerror = () => reject(new Refused(0, unreachable))
  request.onload = () => {
    const { status, response } = request
    if (status >= 200 && status < 300) resolve(response as Answer)
    else reject(refusalOf(status, response))
  }
  request.send(file)
  return promise
}

async function call<Answer>(
  method: string,
  path: string,
  body: string | undefined,
  signal?: AbortSignal,
): Promise<Answer> {
  const headers = new Headers(method === 'GET' ? {} : { 'X-Rowport-Dashboard': '1' })
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  const response = await fetch(addressOf(path), {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new Refused(0, unreachable)
  })
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok) return answer as Answer
  throw refusalOf(response.status, answer)
}

function addressOf(path: string): string {
  return `${basePath}/dashboard/api${path}`
}

function refusalOf(status: number, answer: unknown): Refused {
  const isRefusal = typeof answer === 'object' && answer !== null && 'error' in answer
  return new Refused(status, isRefusal ? (answer as ApiRefusal) : unreachable)
}
