import { setTimeout as sleep } from 'node:timers/promises'
import type { Attacker, Neighbourhood } from './neighbourhood.ts'

/** One way to take what is there for all. */
export interface Attack {
  name: string
  /** Tried in `npm test` as well. */
  isQuick?: true
  /** So many of its own, whose minute nobody has used yet; without it, the street's one attacker. */
  accounts?: number
  /** What has to be there first; the victim is not looked at meanwhile. */
  prepare?(street: Neighbourhood): Promise<void>
  /** Goes on until `isOver`; answers with what the attacker got. */
  run(street: Neighbourhood, isOver: () => boolean): Promise<Tally>
}

export type Tally = Map<string, number>

/** By turns. */
export function ofAll<Each>(all: readonly Each[], n: number): Each {
  const one = all[n % all.length]
  if (one === undefined) throw new Error('There is nobody')
  return one
}

/** Of the rows of a sheet of theirs, at the API. */
export function rowsOf({ account }: Attacker, slug: string): string {
  return `/api/sheets/${account}/${slug}`
}

export function keyed(
  attacker: Attacker,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
) {
  return attacker.ask({ path, method, headers: { Authorization: `Bearer ${attacker.apiKey}`, ...headers } })
}

/** Keeps so many under way at once. */
export async function many(
  atOnce: number,
  isOver: () => boolean,
  one: (n: number) => Promise<{ status: number; body: string }>,
): Promise<Tally> {
  const tally: Tally = new Map()
  let begun = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (!isOver()) {
        const { status, body } = await one(begun++)
        const code = status < 400 ? '' : ` ${/"code":"(\w+)"/.exec(body)?.[1] ?? ''}`
        count(tally, `${status}${code}`)
        // Refused at once, it would be a test of this loop.
        if (status === 429 || status === 0) await sleep(50)
      }
    }),
  )
  return tally
}

export function count(tally: Tally, what: string, by = 1): void {
  tally.set(what, (tally.get(what) ?? 0) + by)
}
