import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Admission } from '../admission/admit.ts'
import { isOriginAllowed } from '../admission/key-policy.ts'
import { parseRows, readBody } from '../api/request/body.ts'
import { parseForm } from '../api/request/form-body.ts'
import type { Clock } from '../clock.ts'
import { errorBody, Refusal, StoreFailure } from '../errors.ts'
import { clientAddress, type TrustedProxies } from '../http/client-address.ts'
import { ClientGone } from '../http/client-gone.ts'
import { captchaKinds } from '../http/form-markup.ts'
import type { FormRecord, FormSettings, Forms } from '../management/forms/forms.ts'
import type { HeldEntries } from '../management/forms/held-entries.ts'
import { Problem } from '../management/problem.ts'
import type { Observe } from '../reporting/observe.ts'
import { randomBase62 } from '../secrets/random-base62.ts'
import { clientNetwork } from '../shares/client-network.ts'
import type { LoopTurns } from '../shares/loop-turns.ts'
import { strangersFrom, type Taker, visitorsOf } from '../shares/taker.ts'
import { refusalOfFailure } from '../sheets/refusal-of-failure.ts'
import type { Writing } from '../sheets/writing/writing.ts'
import type { Soon } from '../soon.ts'
import { addEntry, isUnfit, wasAdded } from './add-entry.ts'
import type { Captchas } from './captcha.ts'
import { checkEntry, type Sent } from './entry.ts'
import { nameOfEntry } from './entry-name.ts'
import { contentPolicyOf, formPage, messagePage, type ShownEntry } from './form-page.ts'
import { createFormTokens } from './form-token.ts'
import { createRecentRefusals } from './recent-refusals.ts'

export interface FormsParts {
  forms: Pick<Forms, 'find'>
  entries: Pick<HeldEntries, 'hold'>
  admission: Pick<Admission, 'admitForm'>
  writing: Writing
  captchas: Captchas
  digest(text: string): Buffer
  trustedProxies: TrustedProxies | null
  turns: LoopTurns
  clock: Clock
  observe: Observe
}

/** What is answered, as a page or as JSON, by what the client accepts. */
interface Answer {
  status: number
  /** Made only for who is sent it. */
  html(): string
  json: object
  /** Where a browser goes instead of being shown the page. */
  location?: string
  retryAfterSeconds?: number
}

const mostKnownTakers = 10_000

export const formMethods = ['GET', 'HEAD', 'POST']

/** The door of forms: pages for people, who need no script for them. */
export function createFormsDoor(
  parts: FormsParts,
): (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void> {
  const { forms, entries, admission, writing, captchas, trustedProxies, turns, clock, observe } = parts
  const tokens = createFormTokens(parts.digest)
  const refusals = createRecentRefusals(clock)
  /** Whose forms were asked for lately. Only for turns: visitors of one form do not wait behind those of all others. */
  const knownTakers = new Map<string, Taker>()

  return async (request, response, path) => {
    if (request.method === 'OPTIONS') return answerPreflight(response)
    const begunMs = clock.elapsedMs()
    const id = path.slice('/f/'.length)
    const network = clientNetwork(clientAddress(request, trustedProxies))
    // Strangers may come from everywhere at once, and none of them is worth making a reader wait.
    await turns.next(knownTakers.get(id) ?? strangersFrom(network))
    const again = request.method === 'POST' ? refusals.of(id, network) : null
    if (again) return send(request, response, refusalAnswer(again), null)
    const found = await forms.find(id).catch((error: unknown) => refusalAfter(error))
    const form = found instanceof Problem || found instanceof Refusal ? null : found
    if (form) noteTaker(form)
    let answer: Answer | null
    try {
      answer =
        found instanceof Refusal
          ? refusalAnswer(found)
          : form
            ? await answerTo(request, form, network)
            : noForm
    } catch (error) {
      if (error instanceof ClientGone) return
      answer = refusalAnswer(refusalAfter(error))
    }
    // Pages are made while they are sent, and a crowd may come for one that takes milliseconds.
    await turns.next(form ? takerOfForm(form) : strangersFrom(network))
    send(request, response, answer, form)
    observe({
      event: 'request_answered',
      operation: request.method === 'POST' ? 'add_rows' : 'describe',
      form: 'none',
      method: request.method ?? 'other',
      status: answer.location === undefined ? answer.status : 303,
      code: null,
      rowsFrom: null,
      durationMs: clock.elapsedMs() - begunMs,
      accountId: form?.accountId ?? null,
      sheetId: form?.sheetId ?? null,
      keyId: null,
    })
  }

  function noteTaker(form: FormRecord): void {
    const isNew = !knownTakers.has(form.id)
    const [oldest] = isNew && knownTakers.size >= mostKnownTakers ? knownTakers.keys() : []
    if (oldest !== undefined) knownTakers.delete(oldest)
    if (isNew) knownTakers.set(form.id, takerOfForm(form))
  }

  /** To find out that it cannot be an entry takes as long as to read one, so it is counted as one. */
  async function countVain(form: FormRecord, request: IncomingMessage, vain: Answer): Promise<Answer> {
    const address = clientAddress(request, trustedProxies)
    const { verdict, release } = await admission.admitForm(form, address)
    release()
    if (!(verdict instanceof Refusal)) return vain
    refusals.note(form.id, clientNetwork(address), verdict)
    return verdict.status === 429 ? refusalAnswer(verdict) : vain
  }

  async function answerTo(request: IncomingMessage, form: FormRecord, network: string): Promise<Answer> {
    if (!form.isOpen) return closed
    if (request.method !== 'POST') return blank(form)
    const nextTurn = () => turns.next(takerOfForm(form))
    const body = await readBody(request, nextTurn, mostBytesSent)
    if (body instanceof Refusal) return refusalAnswer(body)
    // The first turn was for its head, and long ones take a while to be taken apart.
    await nextTurn()
    const sent = await readSentFields(body, request, nextTurn)
    if (sent instanceof Refusal) return countVain(form, request, refusalAnswer(sent))
    const token = sent.get('_token') ?? ''
    const shownAtMs = tokens.shownAtMs(form.id, token)
    // What our own page sends has a token; what any other page sends, browsers say whose it is.
    if (shownAtMs === null && !isFromListed(request, form.settings))
      return countVain(form, request, fromElsewhere)
    const address = clientAddress(request, trustedProxies)
    const sentAtMs = clock.nowMs()
    const shown = { form, sent, token: shownAtMs === null ? tokens.create(form.id, sentAtMs) : token }
    const { row, mistakes } = checkEntry(sent, form.settings)
    const { id: formId, accountId } = form
    const view = shownAtMs === null ? null : token
    const name = nameOfEntry({ formId, row, token: view, address, nowMs: sentAtMs })
    const { verdict, reserve, release } = await admission.admitForm(form, address)
    if (verdict instanceof Refusal) {
      refusals.note(formId, network, verdict)
      if (verdict.status !== 429) return notSent(shown, verdict)
      // The second click on what was taken is no further entry, however many came.
      const isThere = mistakes.size === 0 && (await wasAdded(accountId, name, writing))
      return isThere ? thanks(form) : notSent(shown, verdict)
    }
    if (mistakes.size > 0) return wrong(shown, mistakes)
    const reason = reasonToHold(sent, form.settings, shownAtMs, sentAtMs)
    const captchaRefusal = () => captchas.refusalOf({ form, sent, name: name.name })
    if (reason !== null) {
      if (await wasAdded(accountId, name, writing)) return thanks(form)
      const refusal = await captchaRefusal()
      if (refusal) return notSent(shown, refusal)
      const isKept = await entries.hold({ formId, name, reason, row })
      // Whoever fills a trap is told nothing of it.
      return isKept
        ? thanks(form)
        : notSent(shown, new Refusal('service_unavailable', { retryAfterSeconds: 60 }))
    }
    const asked = { form, pass: verdict, row, name, sentAtMs, captchaRefusal, reserve, stillAdmitted }
    const outcome = await addEntry(asked, writing)
    if (outcome === 'added') return thanks(form)
    // It is right by the form, so what is wrong is not the visitor's: the owner gets it, and no stranger hears which keys are taken.
    if (isUnfit(outcome) && (await entries.hold({ formId, name, reason: 'unfit', row }))) {
      release()
      return thanks(form)
    }
    if (outcome.status === 429) refusals.note(formId, network, outcome)
    release()
    return notSent(shown, outcome)

    async function stillAdmitted(): Promise<Refusal | null> {
      const now = await forms.find(form.id)
      if (now instanceof Problem || !now.isOpen) return new Refusal('not_found')
      const again = await admission.admitForm(form, null)
      return again.verdict instanceof Refusal ? again.verdict : null
    }
  }

  function blank(form: FormRecord): Answer {
    const token = tokens.create(form.id, clock.nowMs())
    const { id, name, settings } = form
    const fields = settings.fields.map(({ column, label, help, kind, isRequired, choices }) => {
      const more = { ...(help !== '' && { help }), ...(kind === 'choice' && { choices }) }
      return { name: column, label, kind, required: isRequired, ...more }
    })
    const html = () => formPage({ form, token, sent: new Map(), mistakes: new Map() })
    const captcha = settings.captcha && {
      provider: settings.captcha.provider,
      site_key: settings.captcha.siteKey,
      field: captchaKinds[settings.captcha.provider].field,
    }
    return { status: 200, html, json: { id, name, fields, token, ...(captcha && { captcha }) } }
  }

  function refusalAfter(error: unknown): Refusal {
    const refusal = refusalOfFailure(error, 'write to')
    if (refusal) return withoutDetails(refusal)
    observe({ event: 'malfunction', reference: randomBase62(12), operation: 'add_rows', error })
    return error instanceof StoreFailure
      ? new Refusal('service_unavailable', { retryAfterSeconds: 1 })
      : new Refusal('internal_error')
  }
}

/** Enough for as many characters as an entry may have, whatever they are and however they are encoded. */
const mostBytesSent = 1_000_000
/** A form has 50 fields at most; pages send a few more with them, and unknown ones are named. */
const mostFieldsSent = 200

/** JSON as one object of scalars, or what a plain form sends. */
async function readSentFields(
  body: Buffer,
  { headers }: IncomingMessage,
  turn: () => Soon<void>,
): Promise<Sent | Refusal> {
  const form = await parseForm(body, headers['content-type'], mostFieldsSent, turn)
  if (form instanceof Refusal) return form
  const rows = form ? [form] : await parseRows(body, headers['content-encoding'], 'one', turn)
  if (rows instanceof Refusal) return rows
  return new Map((rows[0] ?? []).map(([name, value]) => [name, value === null ? '' : String(value)]))
}

/** What the owner could do about it is nothing for a visitor. */
function withoutDetails({ code, facts: { details: _, ...facts } }: Refusal): Refusal {
  return new Refusal(code, facts)
}

function isFromListed({ headers }: IncomingMessage, { origins }: FormSettings): boolean {
  return origins.length === 0 || isOriginAllowed({ origins }, headers.origin ?? null)
}

function reasonToHold(
  sent: Sent,
  { honeypot, minSeconds }: FormSettings,
  shownAtMs: number | null,
  nowMs: number,
): 'honeypot' | 'too_quick' | null {
  if ((sent.get(honeypot) ?? '') !== '') return 'honeypot'
  if (minSeconds === 0) return null
  return shownAtMs === null || nowMs - shownAtMs < minSeconds * 1_000 ? 'too_quick' : null
}

type Shown = Omit<ShownEntry, 'mistakes'>

function wrong(shown: Shown, mistakes: ReadonlyMap<string, string>): Answer {
  const html = () => pageWithEntry(shown, mistakes)
  const error = mistakes.get('')
  const fields = Object.fromEntries([...mistakes].filter(([column]) => column !== ''))
  return {
    status: 422,
    html,
    json: {
      ...errorBody(new Refusal('invalid_entry'), 'flat'),
      ...(error !== undefined && { error }),
      fields,
    },
  }
}

function thanks({ settings: { next, thanks: words } }: FormRecord): Answer {
  const message = words === '' ? 'Your entry was sent.' : words
  const html = () => messagePage('Thank you', message)
  const json = { success: true, message, next }
  return { status: 200, html, json, ...(next !== null && { location: next }) }
}

/** The page again, with what was entered: nobody has to write it twice. */
function notSent(shown: Shown, refusal: Refusal): Answer {
  const words = `Your entry was not sent. ${wordsOf(refusal)}`
  return { ...refusalAnswer(refusal), html: () => pageWithEntry(shown, new Map([['', words]])) }
}

/** To show more than somebody wrote by hand would keep all others waiting; browsers go back to what was filled in. */
function pageWithEntry(shown: Shown, mistakes: ReadonlyMap<string, string>): string {
  let characters = 0
  for (const text of [...shown.sent.values(), ...mistakes.values()]) characters += text.length
  if (characters <= mostShownCharacters) return formPage({ ...shown, mistakes })
  return messagePage(
    'Your entry was not sent',
    'Your entry is too long to be shown here again. Go back to find it as you wrote it.',
  )
}

const mostShownCharacters = 200_000

function wordsOf(refusal: Refusal): string {
  if (refusal.status === 429) return 'Please try again in a while.'
  const { error, details } = errorBody(refusal, 'flat') as { error: string; details?: string }
  return details ?? error
}

function refusalAnswer(refusal: Refusal): Answer {
  const json = errorBody(refusal, 'flat')
  const { retryAfterSeconds } = refusal.facts
  const html = () => messagePage('Your entry was not sent', wordsOf(refusal))
  return { status: refusal.status, html, json, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
}

const noForm: Answer = {
  status: 404,
  html: () => messagePage('There is no form here', 'The URL may be mistyped, or the form was deleted.'),
  json: errorBody(new Refusal('not_found'), 'flat') as object,
}
const closed: Answer = {
  status: 410,
  html: () => messagePage('This form is closed', 'It no longer accepts entries.'),
  json: errorBody(new Refusal('form_closed'), 'flat'),
}

const fromElsewhere: Answer = {
  status: 403,
  html: () =>
    messagePage('Your entry was not sent', 'This form takes no entries from the page that you came from.'),
  json: { error: 'This form takes no entries from this page.', code: 'origin_not_allowed' },
}

const safety = [
  // Not `no-store`: whoever goes back gets the page that was filled in, with its token, and what is sent again is one entry.
  ...['Cache-Control', 'private, no-cache', 'X-Content-Type-Options', 'nosniff', 'Vary', 'Accept, Origin'],
]

/** For whoever asks what can be done here, and for browsers before they send JSON from elsewhere. */
function answerPreflight(response: ServerResponse): void {
  const methods = formMethods.join(', ')
  response.writeHead(204, [
    ...['Allow', `${methods}, OPTIONS`, 'Access-Control-Allow-Origin', '*'],
    ...['Access-Control-Allow-Methods', methods, 'Access-Control-Allow-Headers', 'Content-Type, Accept'],
    ...['Access-Control-Max-Age', '86400'],
  ])
  response.end()
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  form: FormRecord | null,
): void {
  const { status, html, json, location, retryAfterSeconds } = answer
  const { accept = '' } = request.headers
  // A program that never heard of pages is refused as everywhere else; browsers say that they take them.
  const isJson = /\bapplication\/json\b/.test(accept) || (status >= 400 && !/\btext\/html\b/.test(accept))
  // Captchas are good for some sites only, and must be told which this is; which form it is, nobody is told.
  const head = [...safety, 'Referrer-Policy', form?.settings.captcha ? 'strict-origin' : 'no-referrer']
  // Any page may send a form here and read what became of it, unless its owner has listed those that may: a token that others could read
  // would let them send.
  if (!form || isFromListed(request, form.settings)) head.push('Access-Control-Allow-Origin', '*')
  if (retryAfterSeconds !== undefined) head.push('Retry-After', String(retryAfterSeconds))
  if (status === 413) head.push('Connection', 'close')
  if (!isJson && location !== undefined) {
    response.writeHead(303, [...head, 'Location', location, 'Content-Length', '0'])
    response.end()
    return
  }
  const body = Buffer.from(isJson ? `${JSON.stringify(json)}\n` : html())
  head.push('Content-Type', isJson ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8')
  if (!isJson) head.push('Content-Security-Policy', contentPolicyOf(form ?? nobodys))
  head.push('Content-Length', String(body.byteLength))
  response.writeHead(status, head)
  response.end(request.method === 'HEAD' ? undefined : body)
}

const nobodys = { settings: { next: null, framedBy: [] } } as unknown as FormRecord

function takerOfForm({ accountId }: FormRecord): Taker {
  return visitorsOf(accountId)
}
