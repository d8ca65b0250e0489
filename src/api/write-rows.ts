import type { Pass } from '../admission/judge.ts'
import { Refusal } from '../errors.ts'
import { areVisitors } from '../shares/taker.ts'
import type { RowInput } from '../sheets/rows/row-input.ts'
import { positionOfColumn } from '../sheets/rows/table.ts'
import type { AdditionBounds, Wish, WriteAnswer, WriteOrder } from '../sheets/writing/order.ts'
import { viewOf } from './policy/key-view.ts'
import { answerForPage, boundsOf } from './policy/page-addition.ts'
import { readBody } from './request/body.ts'
import { fingerprintOf, parseIdempotencyKey } from './request/idempotency-key.ts'
import { isBracketed, isIgnored } from './request/parameter-name.ts'
import { type Parameters, parseRowNumber, readableParameters } from './request/query.ts'
import { type AdmittedCall, type ApiParts, admitRows, type RowsRequest } from './request/rows-request.ts'
import { typeFormRow } from './request/typed-form.ts'
import type { WriteKind } from './request/write-parameters.ts'
import { parseWish } from './request/write-wish.ts'
import type { Reply } from './response/reply.ts'
import { replayReply, writeReply } from './response/write-reply.ts'

/** A write that was admitted, with what its idempotency key made necessary to read of it. */
interface AdmittedWrite {
  asked: RowsRequest
  kind: WriteKind
  pass: AdmittedCall
  /** Read already where there is a key; the body is part of what the key stands for. */
  body: Buffer | Refusal | null
}

/** parse → admit → replay, or sheet → respond. The body is read only for those who may write. */
export async function writeRows(
  asked: RowsRequest,
  parts: ApiParts,
  kind: WriteKind,
): Promise<Reply | Refusal> {
  const pass = await admitRows(asked, parts, { intent: 'write', pageRight: pageRightOf(asked, kind) })
  if (pass instanceof Refusal) return pass
  const key = parseIdempotencyKey(asked.exchange.request.headers['idempotency-key'])
  if (key instanceof Refusal) return key
  const nextTurn = () => parts.turns.next(pass.taker)
  const body = key === null ? null : await readBody(asked.exchange.request, nextTurn)
  const write: AdmittedWrite = { asked, kind, pass, body }

  const isRemembered = !asksForDryRun(pass.parameters)
  const claim = await claimIdempotencyKey(write, isRemembered ? key : null, parts)
  if (claim instanceof Refusal) return claim
  const policy = pass.key?.policy
  const told = (answer: WriteAnswer | Refusal) => (policy ? answerForPage(answer, policy) : answer)
  if (claim !== null && 'replay' in claim)
    return claim.replay((answer) => replayReply(asked.address, told(answer), nextTurn))

  const order = await orderOf(write, claim?.claimed ?? null, parts)
  if (order instanceof Refusal) return order
  const { promise: whenTold, resolve: noteTold } = Promise.withResolvers<void>()
  try {
    const answer = told(await parts.writing.write({ ...order, waitedMs: claim?.waitedMs ?? 0, whenTold }))
    return answer instanceof Refusal ? answer : await writeReply(asked.address, answer, nextTurn)
  } finally {
    noteTold()
  }
}

/** Rows may be added by a page, as they are; what finds rows and changes them is another thing. */
function pageRightOf({ exchange: { query } }: RowsRequest, kind: WriteKind): 'add' | 'never' {
  const isAddition = kind === 'add' && !readableParameters(query).some(([name]) => name === 'upsert')
  return isAddition ? 'add' : 'never'
}

/** What does not even have a body that is allowed was never accepted under this key, and goes on to be refused. */
async function claimIdempotencyKey(
  { asked, pass, body }: AdmittedWrite,
  idempotencyKey: string | null,
  { writing }: ApiParts,
) {
  if (idempotencyKey === null || body === null || body instanceof Refusal) return null
  const { method = '', headers } = asked.exchange.request
  const { account, sheet, taker, parameters } = pass
  const row = rowIn(asked, parameters)
  const fingerprint = fingerprintOf({ method, sheetId: sheet.id, row, ifMatch: headers['if-match'], body })
  // Whoever sees a page must not find out what others have sent, by guessing how they called it.
  const isForPages = pass.key?.policy != null
  const claimed = isForPages ? `${pass.key?.id} ${idempotencyKey}` : idempotencyKey
  const isForVisitors = areVisitors(taker)
  return writing.claim({ accountId: account.id, isForVisitors, sheet, idempotencyKey: claimed, fingerprint })
}

/** As a fingerprint needs it: also what is no row number is something that was asked, and so is what chooses many rows. */
function rowIn(asked: RowsRequest, parameters: Parameters): string {
  const { rowText, named = null, undoneId } = asked
  if (undoneId !== undefined) return `undo ${undoneId}`
  const number = parseRowNumber(asked, parameters)
  const others = parameters.filter(([name]) => isAsked(name) && name !== 'row')
  if (!(number instanceof Refusal) && !named && others.length === 0) return String(number)
  return JSON.stringify([rowText, named, parameters.filter(([name]) => isAsked(name))])
}

function isAsked(name: string): boolean {
  return name !== 'api_key' && (!isIgnored(name) || isBracketed(name))
}

/** Nothing of it is remembered, so its key is nobody's. */
function asksForDryRun(parameters: Parameters): boolean {
  return parameters.some(([name, value]) => name === 'dry_run' && value === 'true')
}

/**
 * The rest of docs/contract.md#order-of-checks: quota → row number → body → credential. A key is given back unless it
 * becomes an order.
 */
async function orderOf(
  write: AdmittedWrite,
  claim: string | null,
  parts: ApiParts,
): Promise<WriteOrder | Refusal> {
  let order: WriteOrder | Refusal | null = null
  try {
    order = await toOrder(write, claim, parts)
    return order
  } finally {
    const isOrder = order !== null && !(order instanceof Refusal)
    if (claim !== null && !isOrder) await parts.writing.releaseKey(claim)
  }
}

async function toOrder(
  { asked, kind, pass, body }: AdmittedWrite,
  claim: string | null,
  { admission, reading, turns, clock }: ApiParts,
): Promise<WriteOrder | Refusal> {
  const { exchange } = asked
  const { account, sheet, taker, parameters } = pass
  const usedUp = await exchange.reserve?.()
  if (usedUp) return usedUp
  const asking = await parseWish(asked, parameters, kind, body, () => turns.next(taker))
  if (asking instanceof Refusal) return asking
  if (sheet.needsReconnect) return new Refusal('token_expired')
  const typed = asking.isForm ? await typeWish(asking.wish, pass, reading) : asking.wish
  if (typed instanceof Refusal) return typed
  const wish = boundWish(
    typed,
    boundsOf(pass, () => clock.nowMs()),
  )
  const stillAdmitted = () => admission.stillAdmits(pass.call)
  const { bytes, isDryRun } = asking
  const by = pass.key?.id ?? null
  const whose = { accountId: account.id, isForVisitors: areVisitors(taker) }
  return { ...whose, wish, bytes, isDryRun, sheet, claim, by, stillAdmitted }
}

function boundWish(wish: Wish, bounds: AdditionBounds | null): Wish {
  if (!bounds) return wish
  if (wish.kind !== 'add') throw new Error(`A publishable key came to "${wish.kind}"`)
  return { ...wish, bounds }
}

/**
 * A form's texts become what the columns hold, as far as that is known before the write. What a key is shown of the answer goes by what
 * it sees of a column; what it is not shown, by all of it.
 */
async function typeWish(
  wish: Wish,
  { sheet, taker, key }: Pass,
  reading: ApiParts['reading'],
): Promise<Wish | Refusal> {
  if (wish.kind === 'delete' || wish.kind === 'delete_many' || wish.kind === 'undo') return wish
  const asked = { values: 'typed', mustAskProvider: false, taker } as const
  const view = viewOf(key)
  const seen = await reading.read(sheet, view, asked)
  if (seen instanceof Refusal) return seen
  const shown = await seen.indexed
  const whole = view === 'everything' ? shown : await (await reading.readAll(sheet, asked)).indexed
  const typed = (row: RowInput): RowInput => {
    const byShown = typeFormRow(row, shown)
    if (view === 'everything') return byShown
    const byWhole = typeFormRow(row, whole)
    return row.map((entry, at) => {
      const isShown = positionOfColumn(shown.columns, entry[0]) !== null
      return (isShown ? byShown : byWhole)[at] ?? entry
    })
  }
  if ('rows' in wish) return { ...wish, rows: wish.rows.map(typed) }
  return { ...wish, row: typed(wish.row) }
}
