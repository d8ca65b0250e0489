import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { AccountFull, GoneMeanwhile, Refusal, StoreFailure, TooManyAtOnce } from '../../errors.ts'
import { compressedFromBytes } from '../../http/compression.ts'
import { acceptedCoding } from '../../http/content-coding.ts'
import type { PacedCaller } from '../../management/people/owner-pace.ts'
import { signInAgain } from '../../management/people/owners.ts'
import { isRecent } from '../../management/people/sign-in.ts'
import { Problem } from '../../management/problem.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import { clientNetwork } from '../../shares/client-network.ts'
import type { DashboardParts } from '../dashboard-parts.ts'
import { isFromOurPages } from '../our-pages.ts'
import type { OwnerVerb } from '../owner-verbs.ts'
import { safetyHeaders } from '../page-headers.ts'
import { sessionIdIn } from '../session-cookie.ts'
import type { Site } from '../site.ts'
import { fileHeaders, onTheWire, refusalAnswer, type WireAnswer } from './answering.ts'
import { auditedVerbs, detailsOf } from './audited.ts'
import { endingCaller } from './owner-turns.ts'
import { readInput } from './request-body.ts'
import {
  FileAnswer,
  MadeAnswer,
  type OwnerCall,
  type VerbAtPath,
  type VerbCall,
  type VerbOutcome,
} from './route.ts'
import { findRoutes, routesFor } from './routes.ts'

/** The owner's API. It goes by the session alone; an API key opens nothing here. */
export interface OwnerApi {
  methodsAt(path: string): string[] | null
  answer(request: IncomingMessage, response: ServerResponse, target: string, site: Site): Promise<void>
}

export function createOwnerApi(parts: DashboardParts): OwnerApi {
  const routes = routesFor(parts.kinds.all)
  return {
    methodsAt(path) {
      const methods = findRoutes(routes, path)?.map(({ route }) => route.method) ?? null
      return methods?.includes('GET') ? [...methods, 'HEAD'] : methods
    },
    async answer(request, response, target, site) {
      let wire: WireAnswer | FileAnswer | MadeAnswer
      const left = leavingOf(request, response)
      try {
        wire = await wireFor(request, target, site, left)
      } catch (error) {
        if (left.aborted && error === left.reason) return void response.destroy()
        // Whoever left while sending is not there to be answered.
        if (request.destroyed && !request.complete) return
        if (left.aborted && (error as NodeJS.ErrnoException).code === 'ECONNRESET') return
        wire = afterFailure(error)
      }
      if (wire instanceof FileAnswer) return sendFile(wire, request, response, site)
      const asJson = { ...headersOfAll(site), 'Content-Type': 'application/json; charset=utf-8' }
      if (wire instanceof MadeAnswer) {
        return wire.json.sendTo(response, Object.entries(asJson).flat(), request.method === 'HEAD')
      }
      const { body, coding } = wire.body === null ? unmade : await compressText(request, `${wire.body}\n`)
      response.writeHead(wire.status, {
        ...asJson,
        ...(coding !== null && { 'Content-Encoding': coding }),
        ...(body !== null && { 'Content-Length': body.byteLength }),
        ...wire.headers,
        // What is left of a body that was not read to its end is not waited for.
        ...(!request.complete && { Connection: 'close' }),
      })
      response.end(request.method === 'HEAD' ? undefined : body)
    },
  }

  /** What is only read is sent as short as it can be; pages ask for it every few seconds. */
  async function compressText({ method, headers }: IncomingMessage, text: string) {
    const body = Buffer.from(text)
    const coding = method === 'GET' ? acceptedCoding(headers['accept-encoding']) : null
    if (coding === null || body.byteLength < compressedFromBytes) return { body, coding: null }
    const wish = { taker: ownerApiAccount, chunks: [body], coding, isLong: false }
    const pieces = await parts.compression.whole(wish)
    return pieces ? { body: Buffer.concat(pieces), coding } : { body, coding: null }
  }

  /** Who asks → is it one of our own pages → not too often → with what → not again → is it still they → the verb. */
  async function wireFor(
    request: IncomingMessage,
    target: string,
    site: Site,
    left: AbortSignal,
  ): Promise<WireAnswer | FileAnswer | MadeAnswer> {
    const [path = '', search = ''] = splitAt(target, '?')
    const isHead = request.method === 'HEAD'
    const method = isHead ? 'GET' : request.method
    const found = findRoutes(routes, path)?.find(({ route }) => route.method === method)
    if (!found) throw new Error('A request came to the dashboard that it did not ask for')
    const { route, names } = found
    const sessionId = sessionIdIn(request, site)
    const query = new URLSearchParams(search)
    const call: VerbCall = { request, site, query, names, body: null, sessionId, left }
    const address = parts.addressOf(request)
    const network = clientNetwork(address)
    const find = () => (sessionId === null ? Promise.resolve(null) : parts.signIn.find(sessionId))
    const before = await parts.turns.identify(network, left, find)
    const caller: PacedCaller = before
      ? { accountId: before.account.id, sessionHash: before.idHash }
      : { address }
    if ('open' in route) {
      const refusal = await enter(route, call, caller)
      return refusal ?? toSend(await route.open(call, parts, call.body as never), isHead)
    }
    if (sessionId === null || !before) {
      const wait = await parts.pace.countCall(caller)
      return wait ? tellToWait(wait, left) : notSignedIn
    }
    const refusal = await enter(route, call, caller)
    if (refusal) return refusal
    const act = async () => {
      // A body can be held back for half a minute, and the session ended meanwhile.
      const session = route.input ? await parts.signIn.find(sessionId) : before
      if (!session) return notSignedIn
      if (route.needsRecentSignIn && !isRecent(session)) return onTheWire(signInAgain)
      const outcome = await route.owner({ ...call, session }, parts, call.body as never)
      await noteIfAudited(route, { ...call, session }, outcome)
      return toSend(outcome, isHead)
    }
    // A file comes at its sender's pace, and has shares of its own. Somebody with a stolen session may fill an account's turns.
    if (route.isUpload) return act()
    const isEnding = takesAccessAwayBy(route, call.body)
    return parts.turns.act(isEnding ? endingCaller(before.idHash) : before.account.id, left, act)
  }

  async function noteIfAudited(route: VerbAtPath, call: OwnerCall, outcome: VerbOutcome): Promise<void> {
    const audited = auditedVerbs[`${route.method} ${route.verbPath}` as OwnerVerb]
    if (!audited || !isDone(outcome)) return
    const body = (call.body ?? {}) as Record<string, unknown>
    const json = (outcome.json ?? {}) as Record<string, unknown>
    await parts.audit.note({
      accountId: call.session.account.id,
      actor: 'owner',
      address: parts.addressOf(call.request),
      action: audited.action,
      subject: await subjectOf(audited.subject(call.names, body, json), call),
      details: detailsOf(audited, body),
    })
  }

  /** A key that was revoked is told by its name. */
  async function subjectOf(subject: string, { session }: OwnerCall): Promise<string> {
    if (!subject.startsWith('key_')) return subject
    const names = await parts.keys.namesOf(session.account.id, new Map())
    return names.get(subject) ?? subject
  }

  async function enter(route: VerbAtPath, call: VerbCall, caller: PacedCaller): Promise<WireAnswer | null> {
    if (!isFromOurPages(call.request, call.site)) {
      const open = `Open the dashboard at ${call.site.baseUrl}.`
      return refusalAnswer(403, 'another_site', `This request came from a different address. ${open}`)
    }
    const wait = await parts.pace.countCall(caller)
    if (wait && !route.takesAccessAway) return tellToWait(wait, call.left)
    const refusal = await readBody(route, call)
    if (refusal) return refusal
    if (!wait) return refusalIfRepeated(call)
    const stillWaiting = takesAccessAwayBy(route, call.body) ? await parts.pace.takeFromReserve(caller) : wait
    return stillWaiting ? tellToWait(stillWaiting, call.left) : refusalIfRepeated(call)
  }

  async function tellToWait(wait: Problem, left: AbortSignal): Promise<WireAnswer> {
    await parts.turns.holdBack(left)
    return onTheWire(wait)
  }

  async function refusalIfRepeated({ request }: VerbCall): Promise<WireAnswer | null> {
    const attempt = request.headers['x-rowport-attempt']
    if (typeof attempt !== 'string' || !attemptShape.test(attempt)) return null
    return (await parts.attempts.isRepeated(attempt)) ? sentTwice : null
  }

  async function readBody(route: VerbAtPath, call: VerbCall): Promise<WireAnswer | null> {
    if (!route.input) return null
    const read = await readInput(call.request, route.input)
    if ('wire' in read) return read.wire
    call.body = read.value
    return null
  }

  function afterFailure(error: unknown): WireAnswer {
    if (error instanceof TooManyAtOnce) return tooManyAtOnce(error)
    if (error instanceof GoneMeanwhile) return goneMeanwhile
    if (error instanceof AccountFull) return accountFull
    const reference = randomBase62(12)
    parts.observe({ event: 'malfunction', reference, operation: 'none', error })
    if (error instanceof StoreFailure) {
      return refusalAnswer(503, 'busy', 'Rowport can’t reach its database. Try again in a moment.')
    }
    return refusalAnswer(500, 'internal_error', `Something went wrong. Reference: ${reference}.`)
  }
}

/** Where turns are counted by account: no account is called so, and these bodies are short. */
const ownerApiAccount = ''

/** Aborts when the browser leaves, of which nothing but its end is heard: none closes its half of a connection and reads on. */
function leavingOf(request: IncomingMessage, response: ServerResponse): AbortSignal {
  const leaving = new AbortController()
  const { socket } = request
  const leave = () => leaving.abort(new Error('Whoever asked has left'))
  socket.once('end', leave)
  // An answer that waits behind another one on its connection does not tell that it was closed.
  socket.once('close', leave)
  response.once('close', () => {
    socket.off('end', leave)
    socket.off('close', leave)
    if (!response.writableEnded) leave()
  })
  return leaving.signal
}

function takesAccessAwayBy({ takesAccessAway }: VerbAtPath, body: unknown): boolean {
  return typeof takesAccessAway === 'function' ? takesAccessAway(body) : takesAccessAway === true
}

function headersOfAll(site: Site): Record<string, string> {
  return {
    ...safetyHeaders(site),
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cache-Control': 'no-store',
  }
}

function isDone(
  outcome: VerbOutcome,
): outcome is Extract<VerbOutcome, { json: unknown }> & { sendTo?: never } {
  return !(
    outcome instanceof Problem ||
    outcome instanceof Refusal ||
    outcome instanceof FileAnswer ||
    outcome instanceof MadeAnswer
  )
}

function toSend(outcome: VerbOutcome, isHead: boolean): WireAnswer | FileAnswer | MadeAnswer {
  return outcome instanceof FileAnswer || outcome instanceof MadeAnswer ? outcome : onTheWire(outcome, isHead)
}

/** Whoever goes away in the middle is no failure; a file that cannot be read to its end breaks the answer off. */
async function sendFile(
  file: FileAnswer,
  request: IncomingMessage,
  response: ServerResponse,
  site: Site,
): Promise<void> {
  await using handle = file.handle
  response.writeHead(200, { ...headersOfAll(site), ...fileHeaders(file) })
  if (request.method === 'HEAD' || file.bytes === 0) {
    response.end()
    return
  }
  // As long as it was told to be, also when somebody adds to it meanwhile.
  const bytes = handle.createReadStream({ autoClose: false, end: file.bytes - 1 })
  await pipeline(bytes, response).catch(() => response.destroy())
}

function tooManyAtOnce({ retryAfterSeconds, share }: TooManyAtOnce): WireAnswer {
  const which = share === null ? '' : ` (its share ${share})`
  const wire = refusalAnswer(
    429,
    'too_many_at_once',
    `Your account has too much under way at the same time${which}. Try again in ${retryAfterSeconds} seconds.`,
  )
  return { ...wire, headers: { ...wire.headers, 'Retry-After': String(retryAfterSeconds) } }
}

const goneMeanwhile = refusalAnswer(404, 'not_found', 'This no longer exists. Nothing was saved.')
const accountFull = refusalAnswer(400, 'invalid', 'You have as many as you can have. Remove one first.')
const attemptShape = /^[0-9a-f]{32}$/
const sentTwice = refusalAnswer(
  409,
  'sent_twice',
  'The connection broke before the response arrived, and your browser sent this again. It wasn’t done a second time. Check whether it was done before you try again.',
)
/** How long a body would be, and how it would be sent, is known when it is made. */
const unmade = { body: null, coding: null }
const notSignedIn = refusalAnswer(401, 'not_signed_in', 'Please sign in.')

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
