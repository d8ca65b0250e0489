import type { AdmissionCall, Pass } from '../admission/judge.ts'
import { Refusal } from '../errors.ts'
import type { Wish, WriteOrder } from '../sheets/writing/order.ts'
import { readBody } from './request/body.ts'
import { fingerprintOf, parseIdempotencyKey } from './request/idempotency-key.ts'
import { isBracketed, isIgnored } from './request/parameter-name.ts'
import { presentedKeyHash } from './request/presented-key.ts'
import { type Parameters, parseRowNumber } from './request/query.ts'
import { type ApiParts, admitRows, type RowsRequest } from './request/rows-request.ts'
import { typedForm } from './request/typed-form.ts'
import type { WriteKind } from './request/write-parameters.ts'
import { parseWish } from './request/write-wish.ts'
import type { Reply } from './response/reply.ts'
import { replayReply, writeReply } from './response/write-reply.ts'

/** A write that was admitted, with what its idempotency key made necessary to read of it. */
interface AdmittedWrite {
  asked: RowsRequest
  kind: WriteKind
  pass: Pass & { parameters: Parameters }
  /** Read already where there is a key; the body is part of what the key stands for. */
  body: Buffer | Refusal | null
}

/** parse → admit → replay, or sheet → respond. The body is read only for those who may write. */
export async function writeRows(
  asked: RowsRequest,
  parts: ApiParts,
  kind: WriteKind,
): Promise<Reply | Refusal> {
  const pass = await admitRows(asked, parts, 'write')
  if (pass instanceof Refusal) return pass
  const key = parseIdempotencyKey(asked.exchange.request.headers['idempotency-key'])
  if (key instanceof Refusal) return key
  const body = key === null ? null : await readBody(asked.exchange.request)
  const write: AdmittedWrite = { asked, kind, pass, body }

  const isRemembered = !asksForDryRun(pass.parameters)
  const claim = await claimIdempotencyKey(write, isRemembered ? key : null, parts)
  if (claim instanceof Refusal) return claim
  if (claim !== null && 'replay' in claim) return replayReply(asked.address, claim.replay)

  const order = await ordered(write, claim?.claimed ?? null, parts)
  if (order instanceof Refusal) return order
  const answer = await parts.writing.write(order)
  return answer instanceof Refusal ? answer : writeReply(asked.address, answer)
}

/** What does not even have a body that is allowed was never accepted under this key, and goes on to be refused. */
async function claimIdempotencyKey(
  { asked, pass, body }: AdmittedWrite,
  idempotencyKey: string | null,
  { writing }: ApiParts,
) {
  if (idempotencyKey === null || body === null || body instanceof Refusal) return null
  const { method = '', headers } = asked.exchange.request
  const { account, sheet, parameters } = pass
  const row = rowIn(asked, parameters)
  const fingerprint = fingerprintOf({ method, sheetId: sheet.id, row, ifMatch: headers['if-match'], body })
  return writing.claim({ accountId: account.id, sheet, idempotencyKey, fingerprint })
}

/** As a fingerprint needs it: also what is no row number is something that was asked, and so is what chooses many rows. */
function rowIn(asked: RowsRequest, parameters: Parameters): string {
  const { rowText, named = null } = asked
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
async function ordered(
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
  { admission, reading, turns }: ApiParts,
): Promise<WriteOrder | Refusal> {
  const { exchange, address } = asked
  const { account, sheet, parameters } = pass
  const usedUp = await exchange.reserve?.()
  if (usedUp) return usedUp
  const asking = await parseWish(asked, parameters, kind, body, () => turns.next(account.id))
  if (asking instanceof Refusal) return asking
  if (sheet.needsReconnect) return new Refusal('token_expired')
  const wish = asking.isForm ? await typedWish(asking.wish, sheet, reading) : asking.wish
  const keyHash = presentedKeyHash(exchange.request, parameters)
  const call: AdmissionCall = { address, keyHash, intent: 'write' }
  const stillAdmitted = () => admission.stillAdmits(call)
  const { bytes, isDryRun } = asking
  return { wish, bytes, isDryRun, sheet, accountId: account.id, claim, stillAdmitted }
}

/** A form's texts become what the columns hold, as far as that is known before the write. */
async function typedWish(wish: Wish, sheet: Pass['sheet'], reading: ApiParts['reading']): Promise<Wish> {
  if (wish.kind === 'delete' || wish.kind === 'delete_many') return wish
  const { indexed } = await reading.read(sheet, { values: 'typed', mustAskProvider: false })
  const snapshot = await indexed
  if ('rows' in wish) return { ...wish, rows: wish.rows.map((row) => typedForm(row, snapshot)) }
  return { ...wish, row: typedForm(wish.row, snapshot) }
}
