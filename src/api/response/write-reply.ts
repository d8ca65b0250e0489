import type { SheetAddress } from '../../admission/judge.ts'
import { Refusal } from '../../errors.ts'
import type { UndoneChange, UpsertedRow, WriteAnswer } from '../../sheets/writing/order.ts'
import type { Soon } from '../../soon.ts'
import { pathOf } from '../request/routes.ts'
import { longRowEtag, rowEtag } from './etag.ts'
import { withRowNumber } from './list-body.ts'
import { type Body, type Reply, refusalReply, writeHeaders } from './reply.ts'
import { staleMember, warningHeader, warningMember } from './warnings.ts'

/** A reply whose body is made piece by piece: it may tell ten thousand rows. */
interface WrittenReply extends Omit<Reply, 'body'> {
  text: Iterable<string>
  /** The one row that was written, whose ETag is told. */
  row?: { rowNumber: number; rowJson: string } | undefined
}

/** What was written, in the form that was asked (docs/contract.md#two-forms). */
export async function writeReply(
  address: SheetAddress,
  answer: WriteAnswer,
  nextTurn: () => Soon<void>,
): Promise<Reply> {
  const { text, row, headers, ...reply } = replyOf(address, answer)
  const { operationId } = answer
  const etag = row === undefined ? [] : ['ETag', await etagInTurns(row, nextTurn)]
  const named = operationId === undefined ? [] : ['Operation-Id', operationId]
  return { ...reply, headers: [...etag, ...headers, ...named], body: await bodyOf(text, nextTurn) }
}

const pieceCharacters = 64 * 1_024

async function etagInTurns(
  { rowNumber, rowJson }: { rowNumber: number; rowJson: string },
  nextTurn: () => Soon<void>,
): Promise<string> {
  if (rowJson.length <= pieceCharacters) return rowEtag(rowNumber, rowJson)
  const pieces = Iterator.from(slicesOf(rowJson)).map((slice) => Buffer.from(slice))
  return longRowEtag(rowNumber, pieces, nextTurn)
}

/** Never between the halves of a surrogate pair, which are no text by themselves. */
function* slicesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const to = Math.min(text.length, from + pieceCharacters)
    const isWhole = to === text.length || !/[\ud800-\udbff]/.test(text.charAt(to - 1))
    yield text.slice(from, isWhole ? to : to - 1)
    from = isWhole ? to : to - 1
  }
}

/** In one piece where it is short. Its length is told in any case, so a long one is made before it is sent. */
async function bodyOf(text: Iterable<string>, nextTurn: () => Soon<void>): Promise<Body> {
  const chunks: Uint8Array[] = []
  let piece = ''
  for (const part of text) {
    piece += part
    if (piece.length < pieceCharacters) continue
    chunks.push(Buffer.from(piece))
    piece = ''
    await nextTurn()
  }
  if (chunks.length === 0) return piece
  chunks.push(Buffer.from(piece))
  const bytes = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0)
  // Nothing of it is left to be made, so only the connection can fail.
  return { chunks, bytes, holds: chunks, nextTurn, onFailure: () => {} }
}

function* listText<Item>(
  items: readonly Item[],
  textOf: (item: Item, at: number) => string,
): Generator<string> {
  let mark = '['
  for (const [at, item] of items.entries()) {
    yield mark + textOf(item, at)
    mark = ','
  }
  yield items.length === 0 ? '[]' : ']'
}

function* inOrder(...parts: (string | Iterable<string>)[]): Generator<string> {
  for (const part of parts) {
    if (typeof part === 'string') yield part
    else yield* part
  }
}

function replyOf(address: SheetAddress, answer: WriteAnswer): WrittenReply {
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
export async function replayReply(
  address: SheetAddress,
  answer: WriteAnswer | Refusal,
  nextTurn: () => Soon<void>,
): Promise<Reply> {
  const form = address.form === 'a' ? 'flat' : 'nested'
  const reply =
    answer instanceof Refusal ? refusalReply(answer, form) : await writeReply(address, answer, nextTurn)
  return { ...reply, headers: [...reply.headers, 'Idempotent-Replayed', 'true'] }
}

/** Where row numbers are not certain, none is told: neither in the rows, nor as `Location`, nor in an `ETag`. */
function addedReply(
  address: SheetAddress,
  { rowNumbers, rowsJson, ...more }: WriteAnswer & { kind: 'added' },
): WrittenReply {
  const rows = listText(rowsJson, (json, at) => {
    const number = rowNumbers[at]
    return number === undefined ? json : withRowNumber(json, number)
  })
  const count = rowsJson.length
  const numbers = rowNumbers.length > 0 ? `,"rows":${JSON.stringify(rowNumbers)}` : ''
  const text =
    address.form === 'a'
      ? inOrder(
          `{"success":true,"message":"${count} row(s) added","rows_added":${count},"rows":`,
          rows,
          `${moreMembers(more)}}`,
        )
      : inOrder('{"data":', rows, `,"meta":{"rows_added":${count}${numbers}${moreMembers(more)}}}`)
  const [number] = rowNumbers
  const [json] = rowsJson
  const row =
    count === 1 && number !== undefined && json !== undefined
      ? { rowNumber: number, rowJson: json }
      : undefined
  const ofOne = row ? ['Location', `${pathOf(address)}/${row.rowNumber}`] : []
  return { status: 201, base: writeHeaders, headers: [...ofOne, ...warningHeader(more.warning)], text, row }
}

function rowReply(
  address: SheetAddress,
  { kind, rowNumber, rowJson, ...more }: WriteAnswer & { kind: 'updated' | 'deleted' },
): WrittenReply {
  const text =
    address.form === 'a'
      ? inOrder(
          `{"success":true,"message":"Row ${rowNumber} ${kind}","row":${rowNumber},"data":`,
          slicesOf(rowJson),
          `${moreMembers(more)}}`,
        )
      : inOrder('{"data":', slicesOf(rowJson), `,"meta":{"row":${rowNumber}${moreMembers(more)}}}`)
  const row = kind === 'updated' ? { rowNumber, rowJson } : undefined
  return { status: 200, base: writeHeaders, headers: warningHeader(more.warning), text, row }
}

/** Rows in the order in which they were sent. */
function upsertedReply(
  address: SheetAddress,
  { rows, ...more }: WriteAnswer & { kind: 'upserted' },
): WrittenReply {
  const count = (was: UpsertedRow['was']) => rows.filter((row) => row.was === was).length
  const [added, updated, unchanged] = [count('added'), count('updated'), count('unchanged')]
  const numbered = listText(rows, ({ rowNumber, rowJson }) =>
    rowNumber === null ? rowJson : withRowNumber(rowJson, rowNumber),
  )
  const counts = `"rows_added":${added},"rows_updated":${updated},"rows_unchanged":${unchanged}`
  const message = `${added} row(s) added, ${updated} updated, ${unchanged} unchanged`
  const numbers = rows.map(({ rowNumber }) => rowNumber)
  const text =
    address.form === 'a'
      ? inOrder(`{"success":true,"message":"${message}",${counts},"rows":`, numbered, `${moreMembers(more)}}`)
      : inOrder(
          '{"data":',
          numbered,
          `,"meta":{${counts},"rows":${JSON.stringify(numbers)}${moreMembers(more)}}}`,
        )
  return { status: added > 0 ? 201 : 200, base: writeHeaders, headers: warningHeader(more.warning), text }
}

function manyReply(
  address: SheetAddress,
  { kind, rowNumbers, rowsJson, ...more }: WriteAnswer & { kind: 'many_updated' | 'many_deleted' },
): WrittenReply {
  const done = kind === 'many_updated' ? 'updated' : 'deleted'
  const rows = listText(rowsJson, (json, at) => withRowNumber(json, rowNumbers[at] ?? 0))
  const count = `"rows_${done}":${rowsJson.length}`
  const text =
    address.form === 'a'
      ? inOrder(
          `{"success":true,"message":"${rowsJson.length} row(s) ${done}",${count},"rows":`,
          rows,
          `${moreMembers(more)}}`,
        )
      : inOrder(
          '{"data":',
          rows,
          `,"meta":{${count},"rows":${JSON.stringify(rowNumbers)}${moreMembers(more)}}}`,
        )
  return { status: 200, base: writeHeaders, headers: warningHeader(more.warning), text }
}

function undoneReply(
  address: SheetAddress,
  { undoneId, changes, ...more }: WriteAnswer & { kind: 'undone' },
): WrittenReply {
  const count = (kind: UndoneChange['kind']) => changes.filter((change) => change.kind === kind).length
  const [added, updated, deleted] = [count('added'), count('updated'), count('deleted')]
  const told = listText(
    changes,
    ({ kind, rowNumber, beforeJson, afterJson }) =>
      `{"kind":"${kind}","row":${rowNumber},"before":${beforeJson},"after":${afterJson}}`,
  )
  const facts = `"undone":${JSON.stringify(undoneId)},"rows_added":${added},"rows_updated":${updated},"rows_deleted":${deleted}`
  const message = `Write undone: ${added} row(s) put back, ${updated} changed back, ${deleted} removed`
  const text =
    address.form === 'a'
      ? inOrder(`{"success":true,"message":"${message}",${facts},"changes":`, told, `${moreMembers(more)}}`)
      : inOrder('{"data":', told, `,"meta":{${facts}${moreMembers(more)}}}`)
  return { status: 200, base: writeHeaders, headers: warningHeader(more.warning), text }
}

type More = Pick<WriteAnswer, 'warning' | 'stale' | 'isDryRun'>

/** Both forms have these members: one at the top, the other in `meta`. */
function moreMembers({ warning, stale, isDryRun }: More): string {
  return staleMember(stale) + warningMember(warning) + (isDryRun ? ',"dry_run":true' : '')
}
