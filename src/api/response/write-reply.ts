import type { SheetAddress } from '../../admission/judge.ts'
import { Refusal } from '../../errors.ts'
import type { UndoneChange, UpsertedRow, WriteAnswer } from '../../sheets/writing/order.ts'
import { pathOf } from '../request/routes.ts'
import { rowEtag } from './etag.ts'
import { withRowNumber } from './list-body.ts'
import { type Reply, refusalReply, writeHeaders } from './reply.ts'
import { staleMember, warningHeader, warningMember } from './warnings.ts'

/** What was written, in the form that was asked (docs/contract.md#two-forms). */
export function writeReply(address: SheetAddress, answer: WriteAnswer): Reply {
  const reply = replyOf(address, answer)
  const { operationId } = answer
  return operationId === undefined
    ? reply
    : { ...reply, headers: [...reply.headers, 'Operation-Id', operationId] }
}

function replyOf(address: SheetAddress, answer: WriteAnswer): Reply {
  switch (answer.kind) {
    case 'added':
      return addedReply(address, answer)
    case 'updated':
    case 'deleted':
      return rowReply(address, answer)
    case 'upserted':
      return upsertedReply(address, answer)
    case 'many_updated':
    case 'many_deleted':
      return manyReply(address, answer)
    case 'undone':
      return undoneReply(address, answer)
  }
}

/** The first answer again; only the form may be another. */
export function replayReply(address: SheetAddress, answer: WriteAnswer | Refusal): Reply {
  const form = address.form === 'a' ? 'flat' : 'nested'
  const reply = answer instanceof Refusal ? refusalReply(answer, form) : writeReply(address, answer)
  return { ...reply, headers: [...reply.headers, 'Idempotent-Replayed', 'true'] }
}

/** Where row numbers are not certain, none is told: neither in the rows, nor as `Location`, nor in an `ETag`. */
function addedReply(
  address: SheetAddress,
  { rowNumbers, rowsJson, ...more }: WriteAnswer & { kind: 'added' },
): Reply {
  const numbered = rowsJson.map((json, at) => {
    const number = rowNumbers[at]
    return number === undefined ? json : withRowNumber(json, number)
  })
  const rows = `[${numbered.join(',')}]`
  const count = rowsJson.length
  const numbers = rowNumbers.length > 0 ? `,"rows":${JSON.stringify(rowNumbers)}` : ''
  const body =
    address.form === 'a'
      ? `{"success":true,"message":"${count} row(s) added","rows_added":${count},"rows":${rows}${moreMembers(more)}}`
      : `{"data":${rows},"meta":{"rows_added":${count}${numbers}${moreMembers(more)}}}`
  const [number] = rowNumbers
  const [json] = rowsJson
  const ofOne =
    count === 1 && number !== undefined && json !== undefined
      ? ['Location', `${pathOf(address)}/${number}`, 'ETag', rowEtag(number, json)]
      : []
  return { status: 201, base: writeHeaders, headers: [...ofOne, ...warningHeader(more.warning)], body }
}

function rowReply(
  address: SheetAddress,
  { kind, rowNumber, rowJson, ...more }: WriteAnswer & { kind: 'updated' | 'deleted' },
): Reply {
  const body =
    address.form === 'a'
      ? `{"success":true,"message":"Row ${rowNumber} ${kind}","row":${rowNumber},"data":${rowJson}${moreMembers(more)}}`
      : `{"data":${rowJson},"meta":{"row":${rowNumber}${moreMembers(more)}}}`
  const etag = kind === 'updated' ? ['ETag', rowEtag(rowNumber, rowJson)] : []
  return { status: 200, base: writeHeaders, headers: [...etag, ...warningHeader(more.warning)], body }
}

/** Rows in the order in which they were sent. */
function upsertedReply(address: SheetAddress, { rows, ...more }: WriteAnswer & { kind: 'upserted' }): Reply {
  const count = (was: UpsertedRow['was']) => rows.filter((row) => row.was === was).length
  const [added, updated, unchanged] = [count('added'), count('updated'), count('unchanged')]
  const numbered = rows.map(({ rowNumber, rowJson }) =>
    rowNumber === null ? rowJson : withRowNumber(rowJson, rowNumber),
  )
  const counts = `"rows_added":${added},"rows_updated":${updated},"rows_unchanged":${unchanged}`
  const message = `${added} row(s) added, ${updated} updated, ${unchanged} unchanged`
  const numbers = rows.map(({ rowNumber }) => rowNumber)
  const body =
    address.form === 'a'
      ? `{"success":true,"message":"${message}",${counts},"rows":[${numbered.join(',')}]${moreMembers(more)}}`
      : `{"data":[${numbered.join(',')}],"meta":{${counts},"rows":${JSON.stringify(numbers)}${moreMembers(more)}}}`
  return { status: added > 0 ? 201 : 200, base: writeHeaders, headers: warningHeader(more.warning), body }
}

function manyReply(
  address: SheetAddress,
  { kind, rowNumbers, rowsJson, ...more }: WriteAnswer & { kind: 'many_updated' | 'many_deleted' },
): Reply {
  const done = kind === 'many_updated' ? 'updated' : 'deleted'
  const rows = rowsJson.map((json, at) => withRowNumber(json, rowNumbers[at] ?? 0)).join(',')
  const count = `"rows_${done}":${rowsJson.length}`
  const body =
    address.form === 'a'
      ? `{"success":true,"message":"${rowsJson.length} row(s) ${done}",${count},"rows":[${rows}]${moreMembers(more)}}`
      : `{"data":[${rows}],"meta":{${count},"rows":${JSON.stringify(rowNumbers)}${moreMembers(more)}}}`
  return { status: 200, base: writeHeaders, headers: warningHeader(more.warning), body }
}

function undoneReply(
  address: SheetAddress,
  { undoneId, changes, ...more }: WriteAnswer & { kind: 'undone' },
): Reply {
  const count = (kind: UndoneChange['kind']) => changes.filter((change) => change.kind === kind).length
  const [added, updated, deleted] = [count('added'), count('updated'), count('deleted')]
  const told = changes.map(
    ({ kind, rowNumber, beforeJson, afterJson }) =>
      `{"kind":"${kind}","row":${rowNumber},"before":${beforeJson},"after":${afterJson}}`,
  )
  const facts = `"undone":${JSON.stringify(undoneId)},"rows_added":${added},"rows_updated":${updated},"rows_deleted":${deleted}`
  const message = `Write undone: ${added} row(s) put back, ${updated} changed back, ${deleted} removed`
  const body =
    address.form === 'a'
      ? `{"success":true,"message":"${message}",${facts},"changes":[${told.join(',')}]${moreMembers(more)}}`
      : `{"data":[${told.join(',')}],"meta":{${facts}${moreMembers(more)}}}`
  return { status: 200, base: writeHeaders, headers: warningHeader(more.warning), body }
}

type More = Pick<WriteAnswer, 'warning' | 'stale' | 'isDryRun'>

/** Both forms have these members: one at the top, the other in `meta`. */
function moreMembers({ warning, stale, isDryRun }: More): string {
  return staleMember(stale) + warningMember(warning) + (isDryRun ? ',"dry_run":true' : '')
}
