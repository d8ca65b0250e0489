import { rowJson, type Snapshot } from '../sheets/snapshot.ts'
import { rowNumberKey } from '../sheets/table.ts'
import type { ListWish } from './query.ts'

type Pieces = readonly Uint8Array[]

/** Small bodies are joined once, because one write costs less than three; large ones are never copied. */
const joinedUpToBytes = 256 * 1024

/**
 * The body of a list: Form A the bare array, Form B the same inside `data` with `meta` (CONTRACT 1). The whole list
 * in either form is made once for each snapshot and kept as long as that lives.
 */
export function listBody(form: 'a' | 'b', snapshot: Snapshot, asOfMs: number, wish: ListWish): Pieces {
  const isWhole = wish.limit === null && wish.offset === 0
  if (!isWhole) return makeBody(form, snapshot, asOfMs, wish)
  const name = `${form}${wish.rowNumbers}`
  const kept = wholeBodies.get(snapshot) ?? new Map<string, Pieces>()
  wholeBodies.set(snapshot, kept)
  const body = kept.get(name) ?? joinedIfSmall(makeBody(form, snapshot, asOfMs, wish))
  kept.set(name, body)
  return body
}

const wholeBodies = new WeakMap<Snapshot, Map<string, Pieces>>()

/** First row of the page and the row after its last, as positions in the list. */
export function pageOf(snapshot: Snapshot, { limit, offset }: ListWish): { from: number; to: number } {
  const total = snapshot.rowNumbers.length
  const from = Math.min(offset, total)
  return { from, to: limit === null ? total : Math.min(from + limit, total) }
}

function makeBody(form: 'a' | 'b', snapshot: Snapshot, asOfMs: number, wish: ListWish): Pieces {
  const { from, to } = pageOf(snapshot, wish)
  const rows = wish.rowNumbers ? numberedRows(snapshot, from, to) : plainRows(snapshot, from, to)
  if (form === 'a') return rows
  const meta = {
    total: snapshot.rowNumbers.length,
    count: to - from,
    limit: wish.limit,
    offset: wish.offset,
    columns: snapshot.columns.map((column) => column.key),
    rows: Array.from(snapshot.rowNumbers.subarray(from, to)),
    as_of: new Date(asOfMs).toISOString(),
  }
  return [bytes('{"data":'), ...rows, bytes(`,"meta":${JSON.stringify(meta)}}`)]
}

function plainRows(snapshot: Snapshot, from: number, to: number): Pieces {
  if (from === 0 && to === snapshot.rowNumbers.length) return [snapshot.listJson]
  if (from === to) return [bytes('[]')]
  const page = snapshot.listJson.subarray(snapshot.rowStarts[from], (snapshot.rowStarts[to] ?? 0) - 1)
  return [bytes('['), page, bytes(']')]
}

function numberedRows(snapshot: Snapshot, from: number, to: number): Pieces {
  const rows: string[] = []
  for (let at = from; at < to; at++) {
    rows.push(withRowNumber(rowJson(snapshot, at), snapshot.rowNumbers[at] ?? 0))
  }
  return [bytes(`[${rows.join(',')}]`)]
}

/** `{"_row":5,…}`: the number as the first key of a row's JSON text. */
export function withRowNumber(json: string, rowNumber: number): string {
  return `{"${rowNumberKey}":${rowNumber}${json === '{}' ? '' : ','}${json.slice(1)}`
}

function joinedIfSmall(pieces: Pieces): Pieces {
  const length = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
  return pieces.length > 1 && length <= joinedUpToBytes ? [Buffer.concat(pieces)] : pieces
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text)
}
