import { setImmediate as takeTurn } from 'node:timers/promises'
import { type Kysely, sql, type Transaction } from 'kysely'
import { GoneMeanwhile, StoreFailure } from '../../errors.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { ChunkToLog, LongEntries } from './change-log.ts'
import { packEntries } from './packed-entries.ts'

/**
 * The texts of long changes, in pieces. They are written and deleted a few at a time, and found by nobody until a chunk names them:
 * SQLite does all of it on the thread that serves everyone, and what is in one transaction in one go (docs/decisions/053).
 */
export interface ChangeTexts {
  /** null where they are short enough to be written with their chunks. */
  writeAhead(sheetId: string, chunks: readonly ChunkToLog[]): Promise<WrittenTexts | null>
  /** What no chunk names any more. Whatever cannot be removed now is abandoned. */
  remove(sheetId: string, named: readonly NamedText[]): Promise<void>
  /** What nobody has named or removed for long, of whatever sheet. */
  removeAbandoned(): Promise<void>
  entriesOf(sheetId: string, named: NamedText, bytes: number): LongEntries
}

/** The texts of chunks that are logged together. */
export interface WrittenTexts {
  textId: string
  /** As UTF-8, by the place of the chunk. */
  bytes: readonly number[]
}

export interface NamedText {
  textId: string
  nth: number
}

/**
 * What is not longer as UTF-8 is one piece, and is read as such; what is packed is never longer (`packed-entries.ts`). The rest is taken
 * a part at a time: 8 MB of letters beyond ASCII take SQLite's driver 50 ms.
 */
export const mostOnePieceBytes = 256 * 1024
/** What is longer is told 64 KB at a time, and each time the whole of a piece is read. */
const pieceCharacters = 64 * 1024
/** SQLite appends half a megabyte to its log in one or two milliseconds. */
const charactersTogether = 512 * 1024
const piecesTogether = 12
const abandonedTogether = 100
/** A character is three bytes at most: those that are four are two in JavaScript. */
const mostPieceBytes = Math.max(3 * pieceCharacters, mostOnePieceBytes)
/** What was written ahead and never named, or is no longer named and was not removed, by whoever was killed in between. */
const abandonedAfterMs = 60 * 60_000
/** Later they may be taken for abandoned in the moment in which they are named. */
const namedWithinMs = abandonedAfterMs / 2

type TextDatabase = Pick<SqlDatabase, 'kysely' | 'nowMs' | 'bytesOf' | 'passing' | 'flush'>

export function createChangeTexts({ kysely, nowMs, bytesOf, passing, flush }: TextDatabase): ChangeTexts {
  return {
    async writeAhead(sheetId, chunks) {
      if (!areLongTogether(chunks)) return null
      const textId = randomBase62(10)
      const bytes: number[] = []
      let some: Piece[] = []
      let together = 0
      for (const [nth, chunk] of chunks.entries()) {
        let at = 0
        for (const piece of piecesOf(entriesToKeep(chunk))) {
          if (together > 0 && together + piece.length > charactersTogether) await insertSome()
          some.push({ nth, at, piece })
          together += piece.length
          at += Buffer.byteLength(piece)
        }
        bytes.push(at)
      }
      await insertSome()
      // Whoever commits what names them would wait for all of it.
      await flush()
      return { textId, bytes }

      async function insertSome(): Promise<void> {
        await takeTurn()
        const rows = some
        // The commit that names them flushes them as well: until then they are worth nothing.
        await passing((db) => db.transaction().execute((transaction) => insertPieces(transaction, rows)))
        some = []
        together = 0
      }

      async function insertPieces(transaction: Transaction<Tables>, pieces: readonly Piece[]): Promise<void> {
        for (const piece of pieces) {
          const key = { sheet_id: sheetId, text_id: textId }
          await transaction
            .insertInto('change_text')
            .values({ ...key, ...piece, made_at_ms: nowMs() })
            .execute()
        }
        // Only now: with a piece PostgreSQL asks for the sheet, and whoever deletes that holds it before these rows.
        const nths = new Set(pieces.map(({ nth }) => nth))
        const unnamed = Array.from(nths, (nth) => ({ textId, nth }))
        await noteUnnamed(transaction, sheetId, unnamed, { nowMs })
      }
    },
    async remove(sheetId, named) {
      try {
        for (const { textId, nth } of named) await removeText({ passing }, sheetId, textId, nth)
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error
      }
    },
    async removeAbandoned() {
      for (;;) {
        const abandoned = await kysely
          .selectFrom('unnamed_text')
          .where((of) => of('since_ms', '<', of(nowMs(), '-', abandonedAfterMs)))
          .limit(abandonedTogether)
          .select(['sheet_id', 'text_id', 'nth'])
          .execute()
        for (const { sheet_id, text_id, nth } of abandoned)
          await removeText({ passing }, sheet_id, text_id, nth)
        if (abandoned.length < abandonedTogether) return
      }
    },
    entriesOf: (sheetId, named, bytes) => ({
      bytes,
      async slice(from, count) {
        const ofText = kysely
          .selectFrom('change_text')
          .where((of) => of.and({ sheet_id: sheetId, text_id: named.textId, nth: named.nth }))
        // By the key alone: whatever else is read of a piece is all of it.
        const first = await ofText
          .where('at', '<=', from)
          .orderBy('at', 'desc')
          .limit(1)
          .select('at')
          .executeTakeFirst()
        if (!first) throw new GoneMeanwhile()
        const rows = await ofText
          .where('at', '>=', first.at)
          .where('at', '<', from + count)
          .orderBy('at')
          .select(['at', bytesOf('piece', 0, mostPieceBytes).as('piece')])
          .execute()
        return sliceOf(rows, from, Math.min(bytes, from + count))
      },
    }),
  }
}

export function namesOf(written: WrittenTexts | null): NamedText[] {
  if (!written) return []
  return written.bytes.map((_, nth) => ({ textId: written.textId, nth }))
}

/** Whether they are written ahead of what names them. */
export function areLongTogether(chunks: readonly ChunkToLog[]): boolean {
  return chunks.reduce((sum, { entries }) => sum + entries.length, 0) > charactersTogether
}

interface Piece {
  nth: number
  at: number
  piece: string
}

export function entriesToKeep({ entries, textBytes }: ChunkToLog): string {
  return textBytes === undefined ? packEntries(entries) : entries
}

/**
 * Within the transaction that names them: false, and nothing is named, where not all of them are there or somebody may take them for
 * abandoned.
 */
export async function nameTexts(
  transaction: Transaction<Tables>,
  sheetId: string,
  { textId, bytes }: WrittenTexts,
  { nowMs }: Pick<SqlDatabase, 'nowMs'>,
): Promise<boolean> {
  const ofTexts = { sheet_id: sheetId, text_id: textId }
  // Held first: whoever removes some of them has done so before, or finds afterwards that they are named.
  await transaction
    .updateTable('unnamed_text')
    .set((of) => ({ since_ms: of.ref('since_ms') }))
    .where((of) => of.and(ofTexts))
    .execute()
  const found = await transaction
    .selectFrom('change_text')
    .where((of) => of.and(ofTexts))
    .select([
      sql<number | string | null>`sum(octet_length(piece))`.as('bytes'),
      sql<number | string | null>`${nowMs()} - min(made_at_ms)`.as('age_ms'),
    ])
    .executeTakeFirstOrThrow()
  const all = bytes.reduce((sum, one) => sum + one, 0)
  if (Number(found.bytes ?? 0) !== all || Number(found.age_ms ?? 0) >= namedWithinMs) return false
  await transaction
    .deleteFrom('unnamed_text')
    .where((of) => of.and(ofTexts))
    .execute()
  return true
}

/** With the first piece of a text, and in the transaction in which its chunk goes: from then on it is removed by somebody. */
export async function noteUnnamed(
  transaction: Transaction<Tables>,
  sheetId: string,
  named: readonly NamedText[],
  { nowMs }: Pick<SqlDatabase, 'nowMs'>,
): Promise<void> {
  if (named.length === 0) return
  await transaction
    .insertInto('unnamed_text')
    .values(named.map(({ textId, nth }) => ({ sheet_id: sheetId, text_id: textId, nth, since_ms: nowMs() })))
    // A write that changes nothing: whoever removes it has done so before, or waits and finds the new pieces.
    .onConflict((conflict) =>
      conflict
        .columns(['sheet_id', 'text_id', 'nth'])
        .doUpdateSet((of) => ({ since_ms: of.ref('unnamed_text.since_ms') })),
    )
    .execute()
}

/** Those of a sheet whose log goes, also of whoever is about to name them: it will find that they are gone. */
export async function removeUnnamed(
  { kysely, passing }: Pick<SqlDatabase, 'kysely' | 'passing'>,
  sheetId: string,
): Promise<void> {
  const unnamed = await kysely
    .selectFrom('unnamed_text')
    .where('sheet_id', '=', sheetId)
    .select(['text_id', 'nth'])
    .execute()
  for (const { text_id, nth } of unnamed) await removeText({ passing }, sheetId, text_id, nth)
}

/** A few pieces at a time, from its end, for as long as nobody names it. After a power cut it may be there again, and unnamed again. */
async function removeText(
  { passing }: Pick<SqlDatabase, 'passing'>,
  sheetId: string,
  textId: string,
  nth: number,
): Promise<void> {
  for (let isLast = false; !isLast; ) {
    isLast = await passing((db) =>
      db.transaction().execute((transaction) => removeLastPieces(transaction, { sheetId, textId, nth })),
    )
    await takeTurn()
  }
}

async function removeLastPieces(
  transaction: Transaction<Tables>,
  { sheetId, textId, nth }: NamedText & { sheetId: string },
): Promise<boolean> {
  const ofText = { sheet_id: sheetId, text_id: textId, nth }
  const { numUpdatedRows } = await transaction
    .updateTable('unnamed_text')
    .set((of) => ({ since_ms: of.ref('since_ms') }))
    .where((of) => of.and(ofText))
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return true
  const last = await transaction
    .selectFrom('change_text')
    .where((of) => of.and(ofText))
    .orderBy('at', 'desc')
    .limit(piecesTogether)
    .select('at')
    .execute()
  const from = last.at(-1)
  if (from)
    await transaction
      .deleteFrom('change_text')
      .where((of) => of.and(ofText))
      .where('at', '>=', from.at)
      .execute()
  if (last.length === piecesTogether) return false
  await transaction
    .deleteFrom('unnamed_text')
    .where((of) => of.and(ofText))
    .execute()
  return true
}

/** The whole text, for whoever cannot wait between its pieces. */
export async function wholeText(
  transaction: Kysely<Tables>,
  sheetId: string,
  { textId, nth }: NamedText,
): Promise<string> {
  const pieces = await transaction
    .selectFrom('change_text')
    .where((of) => of.and({ sheet_id: sheetId, text_id: textId, nth }))
    .orderBy('at')
    .select('piece')
    .execute()
  return pieces.map(({ piece }) => piece).join('')
}

function* piecesOf(text: string): Generator<string> {
  if (Buffer.byteLength(text) <= mostOnePieceBytes) return yield text
  for (let from = 0; from < text.length; ) {
    const to = endOfPiece(text, from + pieceCharacters)
    yield text.slice(from, to)
    from = to
  }
}

/** The two halves of a character stay together: alone, each would become another one. */
function endOfPiece(text: string, to: number): number {
  if (to >= text.length) return text.length
  return /[\uD800-\uDBFF]/.test(text.charAt(to - 1)) ? to - 1 : to
}

/** `to` is not past the end of the text. Throws `GoneMeanwhile` where a piece is not there any more. */
function sliceOf(rows: readonly { at: number; piece: Uint8Array }[], from: number, to: number): Uint8Array {
  const parts: Uint8Array[] = []
  let reached = from
  for (const { at, piece } of rows) {
    if (at + piece.byteLength <= reached) continue
    if (at > reached) break
    const part = piece.subarray(reached - at, to - at)
    parts.push(part)
    reached += part.byteLength
  }
  if (reached < to) throw new GoneMeanwhile()
  const [only] = parts
  return parts.length === 1 && only ? only : Buffer.concat(parts)
}
