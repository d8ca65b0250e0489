import pg from 'pg'
import type { ColumnValues } from '../sql-database.ts'

interface Asker {
  answer(row: ColumnValues | null): void
  reject(error: unknown): void
}

interface PendingLookUp {
  values: readonly string[]
  askers: Asker[]
}

/** Class 22 of https://www.postgresql.org/docs/current/errcodes-appendix.html */
function isAboutValues(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof pg.DatabaseError && cause.code?.startsWith('22') === true
}

type LookUpQuery = (asked: pg.QueryArrayConfig) => Promise<pg.QueryArrayResult>

/** Each is another statement to plan when it is first met, and longer ones gain nothing. */
const maxTogether = 64

/**
 * One look-up, asked for by many in the same turn of the event loop: they go as one statement that runs the look-up
 * for each set of parameters, and each sees everything committed before it was asked for, because the statement begins
 * after all of them were. The driver's work for a statement, and for a row of it, is most of what a look-up costs here: those who
 * ask for the same, as all who use one key do, share a row.
 */
export function createBatchedLookUp(name: string, text: string, query: LookUpQuery) {
  const parameters = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
  const together = {
    name: `${name}_together`,
    text: togetherText(text, parameters),
  }
  let waiting = new Map<string, PendingLookUp>()

  return (values: readonly string[]): Promise<ColumnValues | null> =>
    new Promise((answer, reject) => {
      if (waiting.size === 0) setImmediate(askAll)
      // No text of PostgreSQL's holds a zero, so no two sets of values that could be found are joined to the same.
      const asked = values.join('\0')
      const pending = waiting.get(asked)
      if (pending) pending.askers.push({ answer, reject })
      else waiting.set(asked, { values, askers: [{ answer, reject }] })
    })

  function askAll(): void {
    const all = [...waiting.values()]
    waiting = new Map()
    for (let at = 0; at < all.length; at += maxTogether) void ask(all.slice(at, at + maxTogether))
  }

  async function ask(batch: readonly PendingLookUp[]): Promise<void> {
    const [first] = batch
    if (!first) return
    try {
      const alone = { name, text, values: [...first.values], rowMode: 'array' as const }
      const columns = Array.from({ length: parameters }, (_, at) => batch.map(({ values }) => values[at]))
      const isAlone = batch.length === 1
      const { rows } = await query(isAlone ? alone : { ...together, values: columns, rowMode: 'array' })
      for (const [at, { askers }] of batch.entries())
        for (const { answer } of askers) answer((rows[at] as ColumnValues | undefined) ?? null)
    } catch (error) {
      // What PostgreSQL cannot read of one is no reason to tell the others nothing.
      if (batch.length > 1 && isAboutValues(error)) for (const one of batch) void ask([one])
      else for (const { reject } of batch.flatMap(({ askers }) => askers)) reject(error)
    }
  }
}

/** Each `$n` becomes the nth column of what was asked; the look-up gives one row for each, or nulls. */
function togetherText(text: string, parameters: number): string {
  const names = Array.from({ length: parameters }, (_, at) => `p${at + 1}`)
  const arrays = names.map((_, at) => `$${at + 1}::text[]`)
  const ofOne = text.replaceAll(/\$(\d+)/g, (_, number: string) => `asked.p${number}`)
  return (
    `select found.* from unnest(${arrays.join(', ')}) with ordinality as asked(${[...names, 'nth'].join(', ')}) ` +
    `left join lateral (${ofOne}) as found on true order by asked.nth`
  )
}
