import { setImmediate as takeTurn } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { randomBase62 } from '../../secrets/random-base62.ts'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'

/**
 * The rows of a sheet as they were after a change, in pieces. Those of a long one are written, read and deleted a few at a time, and
 * found by nobody until their log names them: SQLite does all of it on the thread that serves everyone.
 */
export interface ChangeStates {
  /** Writes what is too long for one go; the rest is for the transaction that names it. */
  writeAhead(sheetId: string, pieces: readonly string[]): Promise<BegunState>
  /** null where it is not there as a whole, because another took its place meanwhile. */
  read(sheetId: string, state: KeptState): Promise<string[] | null>
  remove(sheetId: string, stateId: string): Promise<void>
}

export interface KeptState {
  stateId: string
  bytes: number
}

export interface BegunState extends KeptState {
  rest: readonly string[]
}

const piecesTogether = 4
/** What was written ahead, and never named, by whoever was killed in between. */
const abandonedAfterMs = 60 * 60_000

export function createChangeStates({ kysely, nowMs }: Pick<SqlDatabase, 'kysely' | 'nowMs'>): ChangeStates {
  return {
    async writeAhead(sheetId, pieces) {
      const begun = {
        stateId: randomBase62(10),
        bytes: pieces.reduce((sum, piece) => sum + piece.length, 0),
      }
      if (isShortState(pieces)) return { ...begun, rest: pieces }
      await removeAbandoned(sheetId)
      for (let from = 0; from < pieces.length; from += piecesTogether) {
        await takeTurn()
        const some = pieces.slice(from, from + piecesTogether)
        await kysely.transaction().execute((transaction) => insertPieces(transaction, from, some))
      }
      return { ...begun, rest: [] }

      async function insertPieces(
        transaction: Transaction<Tables>,
        from: number,
        some: readonly string[],
      ): Promise<void> {
        await insertStatePieces(transaction, { sheetId, stateId: begun.stateId, from, pieces: some }, nowMs)
      }
    },
    async read(sheetId, { stateId, bytes }) {
      const pieces: string[] = []
      let length = 0
      for (;;) {
        const some = await kysely
          .selectFrom('change_state')
          .where((of) => of.and({ sheet_id: sheetId, state_id: stateId }))
          .where('nth', '>=', pieces.length)
          .orderBy('nth')
          .limit(piecesTogether)
          .select('piece')
          .execute()
        for (const { piece } of some) {
          pieces.push(piece)
          length += piece.length
        }
        if (some.length < piecesTogether) return length === bytes ? pieces : null
        await takeTurn()
      }
    },
    remove: (sheetId, stateId) => removeState(kysely, sheetId, stateId),
  }

  async function removeAbandoned(sheetId: string): Promise<void> {
    const abandoned = await kysely
      .selectFrom('change_state')
      .leftJoin('change_log', 'change_log.sheet_id', 'change_state.sheet_id')
      .where('change_state.sheet_id', '=', sheetId)
      .where('nth', '=', 0)
      .where((of) => of('made_at_ms', '<', of(nowMs(), '-', abandonedAfterMs)))
      .where((of) =>
        of.or([
          of('change_log.state_id', 'is', null),
          of('change_log.state_id', '!=', of.ref('change_state.state_id')),
        ]),
      )
      .select('change_state.state_id')
      .execute()
    for (const { state_id } of abandoned) await removeState(kysely, sheetId, state_id)
  }
}

/** A few pieces at a time. */
export async function removeState(kysely: Kysely<Tables>, sheetId: string, stateId: string): Promise<void> {
  for (let from = 0; ; from += piecesTogether) {
    const { numDeletedRows } = await kysely
      .deleteFrom('change_state')
      .where((of) => of.and({ sheet_id: sheetId, state_id: stateId }))
      .where('nth', '<', from + piecesTogether)
      .executeTakeFirst()
    if (numDeletedRows < BigInt(piecesTogether)) return
    await takeTurn()
  }
}

/** Short enough to be written, and deleted, with whatever names it. */
function isShortState(pieces: readonly string[]): boolean {
  return pieces.length <= piecesTogether
}

export async function insertStatePieces(
  transaction: Kysely<Tables>,
  { sheetId, stateId, from, pieces }: PiecesToInsert,
  nowMs: SqlDatabase['nowMs'],
): Promise<void> {
  for (const [at, piece] of pieces.entries()) {
    const key = { sheet_id: sheetId, state_id: stateId, nth: from + at }
    await transaction
      .insertInto('change_state')
      .values({ ...key, made_at_ms: nowMs(), piece })
      .execute()
  }
}

interface PiecesToInsert {
  sheetId: string
  stateId: string
  from: number
  pieces: readonly string[]
}
