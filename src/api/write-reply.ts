import type { SheetAddress } from '../admission/judge.ts'
import { Refusal } from '../errors.ts'
import type { WriteAnswer } from '../sheets/writing/order.ts'
import { rowEtag } from './etag.ts'
import { withRowNumber } from './list-body.ts'
import { type Reply, refusalReply, writeHeaders } from './reply.ts'
import { pathOf } from './routes.ts'

/** CONTRACT 3: what was written, in the form that was asked. */
export function writeReply(address: SheetAddress, answer: WriteAnswer): Reply {
  return answer.kind === 'added' ? addedReply(address, answer) : rowReply(address, answer)
}

/** The first answer again; only the form may be another. */
export function replayReply(address: SheetAddress, answer: WriteAnswer | Refusal): Reply {
  const form = address.form === 'a' ? 'flat' : 'nested'
  const reply = answer instanceof Refusal ? refusalReply(answer, form) : writeReply(address, answer)
  return { ...reply, headers: [...reply.headers, 'Idempotent-Replayed', 'true'] }
}

function addedReply(address: SheetAddress, { rowNumbers, rowsJson }: WriteAnswer & { kind: 'added' }): Reply {
  const rows = `[${rowsJson.map((json, at) => withRowNumber(json, rowNumbers[at] ?? 0)).join(',')}]`
  const count = rowNumbers.length
  const body =
    address.form === 'a'
      ? `{"success":true,"message":"${count} row(s) added","rows_added":${count},"rows":${rows}}`
      : `{"data":${rows},"meta":{"rows_added":${count},"rows":${JSON.stringify(rowNumbers)}}}`
  const [number] = rowNumbers
  const [json] = rowsJson
  const ofOne =
    count === 1 && number !== undefined && json !== undefined
      ? ['Location', `${pathOf(address)}/${number}`, 'ETag', rowEtag(number, json)]
      : []
  return { status: 201, base: writeHeaders, headers: ofOne, body }
}

function rowReply(
  address: SheetAddress,
  { kind, rowNumber, rowJson }: Exclude<WriteAnswer, { kind: 'added' }>,
): Reply {
  const body =
    address.form === 'a'
      ? `{"success":true,"message":"Row ${rowNumber} ${kind}","row":${rowNumber},"data":${rowJson}}`
      : `{"data":${rowJson},"meta":{"row":${rowNumber}}}`
  const headers = kind === 'updated' ? ['ETag', rowEtag(rowNumber, rowJson)] : []
  return { status: 200, base: writeHeaders, headers, body }
}
