import type { Pass } from '../admission/judge.ts'
import { changeJson, changeParts } from '../changes/change-json.ts'
import { cursorText } from '../changes/cursor.ts'
import type { TextPart } from '../changes/long-text.ts'
import type { ChangesRead } from '../changes/reading-changes.ts'
import { Refusal } from '../errors.ts'
import { watchCaller } from '../http/asking-inside.ts'
import type { Taker } from '../shares/taker.ts'
import { CredentialExpired, ProviderFailure } from '../sheets/provider-failure.ts'
import type { Logged } from '../sheets/sheet-log.ts'
import { type ChangesAsked, parseChangesWish } from './request/changes-wish.ts'
import { wantsEvents } from './request/format.ts'
import { type AdmittedCall, type ApiParts, admitRows, type RowsRequest } from './request/rows-request.ts'
import { reportLateFailure } from './response/list-reply.ts'
import { longTextsBody } from './response/long-texts-body.ts'
import { eventStreamHeaders, type Reply, writeHeaders } from './response/reply.ts'
import { noLog } from './streams/open-streams.ts'

/** `…/changes`: parse → admit → look at the sheet → the log → respond, at once or as it goes on. */
export async function readChanges(asked: RowsRequest, parts: ApiParts): Promise<Reply | Refusal> {
  const pass = await admitRows(asked, parts, { intent: 'read', pageRight: 'never' })
  if (pass instanceof Refusal) return pass
  const { method, headers } = asked.exchange.request
  const isStream = method === 'GET' && wantsEvents(headers.accept)
  const lastEventId = headers['last-event-id']?.toString()
  const wish = parseChangesWish(pass.parameters, isStream ? { lastEventId } : null)
  if (wish instanceof Refusal) return wish
  const place = await placeToBegin(wish.since, pass, parts)
  if (place instanceof Refusal) return place
  if (isStream) return streamReply(asked, place, wish, pass, parts)
  const read = await changesFor(asked, place, { ...wish, taker: pass.taker }, pass, parts)
  return read instanceof Refusal ? read : changesReply(asked, read, pass.taker, parts)
}

/** Where the log is read from. Whoever asks for changes looks at the sheet as a reader does, so that there are some. */
async function placeToBegin(
  since: ChangesAsked['since'],
  { sheet, taker }: Pass,
  { reading, changes }: ApiParts,
): Promise<Logged | Refusal> {
  try {
    const { logged } = await reading.readAll(sheet, { values: 'typed', mustAskProvider: false, taker })
    await logged
  } catch (error) {
    // What is logged can be told all the same.
    if (!(error instanceof ProviderFailure || error instanceof CredentialExpired)) throw error
  }
  const position = await changes.positionOf(sheet.id, taker)
  if (!position) return noLog
  const { epoch, head, floor } = position
  if (epoch === null) return new Refusal('service_unavailable', { retryAfterSeconds: 1 })
  if (since === null) return { epoch, seq: head }
  if (since === 'earliest') return { epoch, seq: floor }
  const isKept = since.epoch === epoch && since.seq >= floor && since.seq <= head
  return isKept ? since : new Refusal('cursor_expired')
}

async function changesFor(
  { exchange: { request } }: RowsRequest,
  place: Logged,
  wish: ChangesAsked,
  { sheet, taker, call }: AdmittedCall,
  { changes, followerPlaces, admission }: ApiParts,
): Promise<ChangesRead | Refusal> {
  if (wish.since === null) return { changes: [], next: place, hasMore: false }
  if (wish.waitMs === 0) return unlessOver(await changes.after(sheet.id, place, wish))
  const client = watchCaller(request)
  const end = followerPlaces.enter(taker)
  try {
    const read = await changes.await(sheet.id, place, wish, { waitMs: wish.waitMs, left: client.left })
    // What was revoked or paused while it waited holds for it.
    return (await admission.stillAdmits(call)) ?? unlessOver(read)
  } finally {
    end()
    client.forget()
  }
}

function unlessOver(read: ChangesRead): ChangesRead | Refusal {
  if (read.over === 'no_log') return noLog
  return read.over === 'expired' ? new Refusal('cursor_expired') : read
}

function changesReply(
  { address: { form } }: RowsRequest,
  read: ChangesRead,
  taker: Taker,
  parts: ApiParts,
): Reply {
  const cursor = cursorText(read.next)
  return {
    status: 200,
    base: writeHeaders,
    headers: ['X-Change-Cursor', cursor, 'X-More-Changes', String(read.hasMore)],
    body: changesBody(read, form, cursor) ?? longTextsBody(longTexts(read, form, cursor), taker, parts),
  }
}

/** A page that many are told is made once. */
const bodiesOf = new WeakMap<ChangesRead, Map<string, readonly Uint8Array[]>>()

function changesBody(read: ChangesRead, form: string, cursor: string): readonly Uint8Array[] | null {
  if (read.changes.some(({ long }) => long)) return null
  const known = bodiesOf.get(read) ?? new Map<string, readonly Uint8Array[]>()
  bodiesOf.set(read, known)
  const [begin, end] = aroundChanges(read, form, cursor)
  const body = known.get(form) ?? [Buffer.from(begin + read.changes.map(changeJson).join(',') + end)]
  known.set(form, body)
  return body
}

function aroundChanges({ changes, hasMore }: ChangesRead, form: string, cursor: string): [string, string] {
  if (form === 'a') return ['[', ']']
  return ['{"data":[', `],"meta":{"count":${changes.length},"cursor":"${cursor}","more":${hasMore}}}`]
}

function longTexts(read: ChangesRead, form: string, cursor: string): TextPart[] {
  const [begin, end] = aroundChanges(read, form, cursor)
  const changes = read.changes.flatMap((told, nth): TextPart[] =>
    nth === 0 ? changeParts(told) : [',', ...changeParts(told)],
  )
  return [begin, ...changes, end]
}

function streamReply(
  { exchange: { request, clientAddress }, address }: RowsRequest,
  place: Logged,
  wish: ChangesAsked,
  { sheet, taker, call }: AdmittedCall,
  { streams, followerPlaces, turns, observe }: ApiParts,
): Reply {
  const { left } = watchCaller(request)
  const end = followerPlaces.enter(taker)
  if (left.aborted) end()
  else left.addEventListener('abort', end, { once: true })
  const form = address.form === 'a' ? 'flat' : 'nested'
  const onHalfClosed = (probe: () => void) => void request.socket.once('end', probe)
  const nextTurn = () => turns.next(taker)
  const onFailure = (error: unknown) => reportLateFailure({ observe }, error, 'list_changes')
  const chunks = streams.open({
    ...{ sheetId: sheet.id, place, filter: wish, call, clientAddress, form, left, onHalfClosed, nextTurn },
  })
  return {
    status: 200,
    base: eventStreamHeaders,
    headers: ['X-Change-Cursor', cursorText(place)],
    // When a stream ends, its connection does: the next one shall go wherever there is room, and not back to an instance that stops.
    isLastOnConnection: true,
    body: { chunks, bytes: null, holds: [], nextTurn, onFailure },
  }
}
