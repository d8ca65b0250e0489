import type { SheetAddress } from '../../admission/judge.ts'
import { Refusal } from '../../errors.ts'
import type { WriteAnswer } from '../../sheets/writing/order.ts'
import { pathOf } from '../request/routes.ts'
import { rowEtag } from './etag.ts'
import { withRowNumber } from './list-body.ts'
import { type Reply, refusalReply, writeHeaders } from './reply.ts'
import { staleMember, warningHeader, warningMember } from './warnings.ts'

/** What was written, in the form that was asked (docs/contract.md#two-forms). */
export function writeReply(address: SheetAddress, answer: WriteAnswer): Reply {
  return answer.kind === 'added' ? addedReply(address, answer) : rowReply(address, answer)
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
  { rowNumbers, rowsJson, warning }: WriteAnswer & { kind: 'added' },
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
      ? `{"success":true,"message":"${count} row(s) added","rows_added":${count},"rows":${rows}${warningMember(warning)}}`
      : `{"data":${rows},"meta":{"rows_added":${count}${numbers}${warningMember(warning)}}}`
  const [number] = rowNumbers
  const [json] = rowsJson
  const ofOne =
    count === 1 && number !== undefined && json !== undefined
      ? ['Location', `${pathOf(address)}/${number}`, 'ETag', rowEtag(number, json)]
      : []
  return { status: 201, base: writeHeaders, headers: [...ofOne, ...warningHeader(warning)], body }
}

function rowReply(
  address: SheetAddress,
  { kind, rowNumber, rowJson, warning, staleKeys }: Exclude<WriteAnswer, { kind: 'added' }>,
): Reply {
  const more = staleMember(staleKeys, rowNumber) + warningMember(warning)
  const body =
    address.form === 'a'
      ? `{"success":true,"message":"Row ${rowNumber} ${kind}","row":${rowNumber},"data":${rowJson}${more}}`
      : `{"data":${rowJson},"meta":{"row":${rowNumber}${more}}}`
  const etag = kind === 'updated' ? ['ETag', rowEtag(rowNumber, rowJson)] : []
  return { status: 200, base: writeHeaders, headers: [...etag, ...warningHeader(warning)], body }
}
