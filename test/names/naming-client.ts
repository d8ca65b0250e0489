import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Asked, AskWish } from '../writing/google-ground.ts'
import type { KeyedClient } from '../writing/keyed-client.ts'

/** A request on a sheet; throws where no answer comes. */
export type AskSheet = (method: string, path: string, wish?: AskWish) => Promise<Asked>

export interface NamingClient extends Pick<KeyedClient, 'rows' | 'gone'> {
  /** One write of some kind, until its answer is certain. */
  act(): Promise<void>
  counts: { operations: number; uncertain: number; replayed: number }
}

const maxTries = 400

/**
 * A client that never looks up a row number: it adds by upserts, changes and deletes by its rows' ids, one or several at a time, each
 * under a key and again until the answer is certain. It works on rows of its own, so it knows what must be there in the end.
 */
export function createNamingClient(ask: AskSheet, name: string, random: () => number): NamingClient {
  const rows = new Map<string, number>()
  const gone = new Set<string>()
  const counts = { operations: 0, uncertain: 0, replayed: 0 }
  let made = 0

  return {
    rows,
    gone,
    counts,
    async act() {
      const dice = random()
      if (dice < 0.4 || rows.size < 4) await addOrChange()
      else if (dice < 0.65) await change()
      else if (dice < 0.75) await changeMany()
      else await (dice < 0.88 ? remove() : removeMany())
      counts.operations++
    },
  }

  /** One or two new rows, and one that is there. */
  async function addOrChange(): Promise<void> {
    const fresh = Array.from({ length: 1 + Math.floor(random() * 2) }, () => ({
      id: `${name}-${made++}`,
      n: 0,
    }))
    const [old] = some(1)
    const changed = old === undefined ? [] : [{ id: old, n: (rows.get(old) ?? 0) + 1 }]
    const sent = [...changed, ...fresh]
    const { rows_added, rows_updated, rows: answered } = await certain('POST', '?upsert=id', { body: sent })
    const told = answered.map(({ id, n }: { id: string; n: number }) => ({ id, n }))
    must(rows_added === fresh.length && rows_updated === changed.length, 'an upsert', [sent, answered])
    must(JSON.stringify(told) === JSON.stringify(sent), 'an upsert', [sent, answered])
    for (const { id, n } of sent) rows.set(id, n)
  }

  async function change(): Promise<void> {
    const [id = ''] = some(1)
    const n = (rows.get(id) ?? 0) + 1
    const { data } = await certain('PATCH', `/by/id/${id}`, { body: { n } })
    must(data.id === id && data.n === n, `a change of ${id}`, data)
    rows.set(id, n)
  }

  async function changeMany(): Promise<void> {
    const ids = some(3)
    const n = 1_000 + Math.floor(random() * 1_000)
    const { rows_updated } = await certain('PATCH', `?id[in]=${ids.join(',')}`, { body: { n } })
    must(rows_updated === ids.length, `a change of ${ids}`, rows_updated)
    for (const id of ids) rows.set(id, n)
  }

  async function remove(): Promise<void> {
    const [id = ''] = some(1)
    const { data } = await certain('DELETE', `/by/id/${id}`)
    must(data.id === id, `a deletion of ${id}`, data)
    forget([id])
  }

  async function removeMany(): Promise<void> {
    const ids = some(3)
    const { rows: deleted } = await certain('DELETE', `?id[in]=${ids.join(',')}`)
    const told = deleted.map(({ id }: { id: string }) => id)
    must(told.toSorted().join() === ids.toSorted().join(), `a deletion of ${ids}`, deleted)
    forget(ids)
  }

  function forget(ids: readonly string[]): void {
    for (const id of ids) {
      rows.delete(id)
      gone.add(id)
    }
  }

  function some(count: number): string[] {
    return [...rows.keys()]
      .map((id) => ({ id, rank: random() }))
      .sort((one, other) => one.rank - other.rank)
      .slice(0, count)
      .map(({ id }) => id)
  }

  async function certain(method: string, path: string, wish: AskWish = {}): Promise<Asked['body']> {
    const key = randomUUID()
    for (let tries = 0; tries < maxTries; tries++) {
      const answer = await ask(method, path, { ...wish, key }).catch(() => null)
      const isOpen = !answer || answer.status >= 500 || answer.body.code === 'idempotency_in_progress'
      if (!isOpen) {
        if (answer.headers.get('idempotent-replayed')) counts.replayed++
        must(answer.status < 300, `${method} ${path}`, answer.body)
        must(answer.headers.get('x-rowport-warning') === null, `${method} ${path}`, answer.body)
        return answer.body
      }
      counts.uncertain++
      await sleep(10 + random() * 60)
    }
    throw new Error(`${method} ${path}: no certain answer`)
  }
}

function must(holds: boolean, what: string, seen: unknown): void {
  if (!holds) throw new Error(`${what} was answered ${JSON.stringify(seen)}`)
}
