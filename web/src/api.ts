import type { ApiRefusal, RecentSignInRequired } from '../../src/dashboard/contract.ts'
import type { OwnerVerb, OwnerVerbs } from '../../src/dashboard/owner-verbs.ts'
import { basePath } from './base-path.ts'
import { isCutOff, noteAnswer, noteFailure } from './reachability.ts'

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

/** A question that the person waits in front of ends some time, with the truth: nobody knows. */
const longestWaitMs = 60_000

const unreachable = 'Can’t reach Rowport. Check your connection and try again.'
const notSent =
  'You’re offline. This wasn’t sent, and it won’t be sent later. Try again when you’re back online.'
const unanswered = 'Rowport didn’t respond. The change may have been made anyway. Check before you try again.'
const recentSignInRequired: RecentSignInRequired = 'recent_sign_in_required'

type VerbBy<Method extends string> = Extract<OwnerVerb, `${Method} ${string}`>
type UploadVerb = { [Verb in OwnerVerb]: OwnerVerbs[Verb] extends { upload: true } ? Verb : never }[OwnerVerb]
type AnswerTo<Verb extends OwnerVerb> = OwnerVerbs[Verb]['answer']

type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never
/** What a verb takes: the open segments of its path, its query, its input. */
type Wish<Verb extends OwnerVerb> = Pick<
  OwnerVerbs[Verb],
  Extract<keyof OwnerVerbs[Verb], 'query' | 'input'>
> &
  ([NamesIn<Verb>] extends [never] ? unknown : { names: Record<NamesIn<Verb>, string> })

/** Asks the owner to show that it is they; false when they would rather not. `verb`: what asks for it. */
type Confirm = (verb: OwnerVerb) => Promise<boolean>
const refuse: Confirm = async () => false
let confirm = refuse

/** Whoever asks takes it back by what this returns. */
export function confirmWith(ask: Confirm): () => void {
  confirm = ask
  return () => {
    if (confirm === ask) confirm = refuse
  }
}

export function get<Verb extends VerbBy<'GET'>>(
  verb: Verb,
  wish: Wish<Verb> & { signal: AbortSignal },
): Promise<AnswerTo<Verb>> {
  return call<AnswerTo<Verb>>(verb, wish)
}

/** What needs a recent sign-in asks for one and goes on, so that no page has to think of it. */
export async function send<Verb extends VerbBy<'POST' | 'PATCH' | 'DELETE'>>(
  verb: Verb,
  wish: Wish<Verb>,
): Promise<AnswerTo<Verb>> {
  const attempt = () => call<AnswerTo<Verb>>(verb, wish)
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== recentSignInRequired) throw error
    if (!(await confirm(verb))) throw error
    return attempt()
  }
}

/** A file goes as its bytes. `fetch` cannot tell how far it is, so this is the older way. */
export function upload<Verb extends UploadVerb>(
  verb: Verb,
  wish: Wish<Verb>,
  file: File,
  onSent: (share: number) => void,
): Promise<AnswerTo<Verb>> {
  const { promise, resolve, reject } = Promise.withResolvers<AnswerTo<Verb>>()
  const wasCutOff = isCutOff()
  const request = new XMLHttpRequest()
  request.open('POST', addressOf(verb, wish))
  for (const [name, value] of Object.entries(headersOfChange())) request.setRequestHeader(name, value)
  request.responseType = 'json'
  request.upload.onprogress = ({ loaded, total }) => onSent(total === 0 ? 0 : loaded / total)
  request.onerror = () => reject(lost('POST', wasCutOff))
  request.onload = () => {
    noteAnswer()
    const { status, response } = request
    if (status >= 200 && status < 300) resolve(response as AnswerTo<Verb>)
    else reject(refusalOf(status, response))
  }
  request.send(file)
  return promise
}

/**
 * `fetch` and the whole body. It tries also where the browser believes that there is no network: the server may be on this
 * machine. What fails was never put aside for later, and the error says whether it can have been done.
 */
export async function reach(
  address: string,
  { signal, ...init }: RequestInit & { method: string },
): Promise<{ response: Response; text: string }> {
  const wasCutOff = isCutOff()
  const limits = init.method === 'GET' ? [] : [AbortSignal.timeout(longestWaitMs)]
  try {
    const response = await fetch(address, {
      ...init,
      signal: AbortSignal.any(signal ? [signal, ...limits] : limits),
    })
    const text = await response.text()
    noteAnswer()
    return { response, text }
  } catch (error) {
    if (signal?.aborted) throw error
    throw lost(init.method, wasCutOff)
  }
}

/** A wish for any verb; which parts it has is held to the verb where it is made. */
interface AnyWish {
  names?: Record<string, string>
  query?: Record<string, string> | URLSearchParams
  input?: unknown
  signal?: AbortSignal
}

async function call<Answer>(verb: OwnerVerb, wish: AnyWish): Promise<Answer> {
  const [method = ''] = verb.split(' ')
  const body = wish.input === undefined ? undefined : JSON.stringify(wish.input)
  const headers = new Headers(method === 'GET' ? {} : headersOfChange())
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  const { response, text } = await reach(addressOf(verb, wish), {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(wish.signal ? { signal: wish.signal } : {}),
  })
  const answer = parsed(text)
  if (response.ok) return answer as Answer
  throw refusalOf(response.status, answer)
}

function headersOfChange(): Record<string, string> {
  return { 'X-Rowport-Dashboard': '1', 'X-Rowport-Attempt': newAttempt() }
}

/**
 * Names one click. When a connection breaks before the answer, the browser may send the request again by itself; by this
 * name the server does not do it twice. (`crypto.randomUUID` is not there on plain HTTP.)
 */
export function newAttempt(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** For links to what the browser shall keep as a file. */
export function linkTo<Verb extends VerbBy<'GET'>>(verb: Verb, wish: Wish<Verb>): string {
  return addressOf(verb, wish)
}

function addressOf(verb: OwnerVerb, { names = {}, query }: AnyWish): string {
  const [, pattern = ''] = verb.split(' ')
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''))
  return `${basePath}/dashboard/api${path}${query ? `?${new URLSearchParams(query)}` : ''}`
}

function refusalOf(status: number, answer: unknown): Refused {
  const isRefusal = typeof answer === 'object' && answer !== null && 'error' in answer
  return isRefusal ? new Refused(status, answer as ApiRefusal) : silent(status, unreachable)
}

/** `wasCutOff`: before it was tried. Whoever is cut off before and after has sent nothing in between. */
function lost(method: string, wasCutOff: boolean): Refused {
  noteFailure()
  if (method === 'GET') return silent(0, unreachable)
  return silent(0, wasCutOff && isCutOff() ? notSent : unanswered)
}

function silent(status: number, message: string): Refused {
  return new Refused(status, { error: { code: 'unreachable', message } })
}
