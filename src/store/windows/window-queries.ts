import { sql } from 'kysely'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { StoredWindow, WindowStore } from './windows.ts'

/** Those who ask for one window while a statement for it is under way; they go together with the next. */
interface Line {
  waiting: { resolve(answer: StoredWindow | null): void; reject(error: unknown): void }[]
}

interface WantedWindow {
  name: string
  limit: number
  windowMs: number
  opensBeforeMs: number
}

const always = Number.MAX_SAFE_INTEGER
/** What was counted in a window may be asked for so long after its end. */
const keepMs = 60_000
/**
 * A window that ends later than one that opens now was opened before the server's time was set back; but a statement may
 * have waited for another one, whose moment was a later one, for so long.
 */
const waitedMs = 15_000
/** The windows that are taken from without naming their length are of a minute. */
const minuteMs = 60_000

export function createWindowQueries(database: SqlDatabase): WindowStore {
  const lines = new Map<string, Line>()
  /** One look serves all who ask meanwhile: it is only for telling how things stand. */
  const looks = new Map<string, Promise<StoredWindow>>()

  return {
    async takeWindow(name, limit, windowMs) {
      const taken = await takeInLine({ name, limit, windowMs, opensBeforeMs: always })
      if (!taken) throw new Error('The clock of the store is beyond all time')
      return taken
    },
    takeWindowBefore: (name, limit, windowMs, opensBeforeMs) =>
      takeInLine({ name, limit, windowMs, opensBeforeMs }),
    async takeFromOpenWindow(name, limit) {
      const nowMs = database.nowMs()
      const isFull = sql<boolean>`rate_window.count >= ${sql.lit(limit)}`
      const row = await database.passing((db) =>
        db
          .updateTable('rate_window')
          .set({
            count: sql<number>`case when ${isFull} then rate_window.count else rate_window.count + 1 end`,
            granted: sql<number>`case when ${isFull} then 0 else 1 end`,
          })
          .where('name', '=', name)
          .where('ends_at_ms', '>', nowMs)
          .where('ends_at_ms', '<=', sql<number>`${nowMs} + ${sql.lit(minuteMs + waitedMs)}`)
          .returning(['count', 'granted', 'ends_at_ms', nowMs.as('now_ms')])
          .executeTakeFirst(),
      )
      return row ? answersOf(row, limit)(0) : null
    },
    async countOfLastWindow(name, withinMs) {
      const nowMs = database.nowMs()
      const last = await database.kysely
        .selectFrom('rate_window')
        .select('count')
        .where('name', '=', name)
        .where('ends_at_ms', '<=', nowMs)
        .where('ends_at_ms', '>', sql<number>`${nowMs} - ${sql.lit(withinMs)}`)
        .executeTakeFirst()
      return last?.count ?? 0
    },
    lookWindow(name, limit, windowMs) {
      const lineName = `${limit} ${windowMs} ${name}`
      const looking =
        looks.get(lineName) ?? readStored(name, limit, windowMs).finally(() => looks.delete(lineName))
      looks.set(lineName, looking)
      return looking
    },
    async forgetOldWindows() {
      await database.passing((db) =>
        db
          .deleteFrom('rate_window')
          .where('ends_at_ms', '<=', sql<number>`${database.nowMs()} - ${sql.lit(keepMs)}`)
          .execute(),
      )
    },
  }

  function takeInLine(wanted: WantedWindow): Promise<StoredWindow | null> {
    const { name, limit, windowMs, opensBeforeMs } = wanted
    const { promise, resolve, reject } = Promise.withResolvers<StoredWindow | null>()
    const lineName = `${limit} ${windowMs} ${opensBeforeMs} ${name}`
    const line = lines.get(lineName)
    if (line) line.waiting.push({ resolve, reject })
    else {
      const opened: Line = { waiting: [{ resolve, reject }] }
      lines.set(lineName, opened)
      void work(lineName, opened, wanted)
    }
    return promise
  }

  /** A busy account is one row, and its requests would wait for each other there one by one. */
  async function work(lineName: string, line: Line, wanted: WantedWindow): Promise<void> {
    // Those of the same turn go together.
    await Promise.resolve()
    while (line.waiting.length > 0) {
      const { waiting } = line
      line.waiting = []
      try {
        const answers = await take(wanted, waiting.length)
        for (const [at, { resolve }] of waiting.entries()) resolve(answers(at))
      } catch (error) {
        for (const { reject } of waiting) reject(error)
      }
    }
    lines.delete(lineName)
  }

  /** What each of so many requests is told, in their order. */
  async function take({ name, limit, windowMs, opensBeforeMs }: WantedWindow, requests: number) {
    const nowMs = database.nowMs()
    const most = Math.min(requests, limit)
    // One moment for the whole statement: what would be inserted ends one window after now.
    const isOver = sql<boolean>`(rate_window.ends_at_ms <= excluded.ends_at_ms - ${sql.lit(windowMs)}
      or rate_window.ends_at_ms > excluded.ends_at_ms + ${sql.lit(waitedMs)})`
    // `cast`: PostgreSQL cannot tell the type of a parameter in a sum.
    const left = sql<number>`cast(${limit} as bigint) - rate_window.count`
    const granted = sql<number>`case
      when ${isOver} then excluded.granted
      when ${left} <= 0 then 0
      when ${left} < excluded.granted then ${left}
      else excluded.granted end`
    const row = await database.passing((db) =>
      db
        .insertInto('rate_window')
        .columns(['name', 'count', 'granted', 'ends_at_ms'])
        .expression(
          db
            .selectFrom(db.selectNoFrom(nowMs.as('now_ms')).as('moment'))
            .select([
              sql<string>`cast(${name} as text)`.as('name'),
              sql<number>`cast(${most} as bigint)`.as('count'),
              sql<number>`cast(${most} as bigint)`.as('granted'),
              sql<number>`moment.now_ms + ${sql.lit(windowMs)}`.as('ends_at_ms'),
            ])
            .where('moment.now_ms', '<', opensBeforeMs),
        )
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet({
            count: sql<number>`case when ${isOver} then 0 else rate_window.count end + ${granted}`,
            granted,
            ends_at_ms: sql<number>`case when ${isOver} then excluded.ends_at_ms else rate_window.ends_at_ms end`,
          }),
        )
        .returning(['count', 'granted', 'ends_at_ms', nowMs.as('now_ms')])
        .executeTakeFirst(),
    )
    return row ? answersOf(row, limit) : () => null
  }

  async function readStored(name: string, limit: number, windowMs: number): Promise<StoredWindow> {
    const { now_ms, count, ends_at_ms } = await database.kysely
      .selectFrom(database.kysely.selectNoFrom(database.nowMs().as('now_ms')).as('moment'))
      .leftJoin('rate_window', (join) =>
        join
          .on('rate_window.name', '=', name)
          .onRef('rate_window.ends_at_ms', '>', 'moment.now_ms')
          .on('rate_window.ends_at_ms', '<=', sql<number>`moment.now_ms + ${sql.lit(windowMs + waitedMs)}`),
      )
      .select(['moment.now_ms', 'rate_window.count', 'rate_window.ends_at_ms'])
      .executeTakeFirstOrThrow()
    const used = count ?? 0
    return {
      isAdmitted: used < limit,
      remaining: Math.max(0, limit - used),
      resetAtMs: ends_at_ms ?? now_ms + windowMs,
      nowMs: now_ms,
    }
  }
}

interface TakenRow {
  count: number
  granted: number
  ends_at_ms: number
  now_ms: number
}

function answersOf(row: TakenRow, limit: number): (at: number) => StoredWindow {
  return (at) => {
    const isAdmitted = at < row.granted
    const used = isAdmitted ? row.count - row.granted + at + 1 : row.count
    return {
      isAdmitted,
      remaining: Math.max(0, limit - used),
      resetAtMs: row.ends_at_ms,
      nowMs: row.now_ms,
    }
  }
}
