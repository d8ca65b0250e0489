import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Asked, GoogleSheet } from './google-ground.ts'

/**
 * A client as we tell people to write one: every write has a key, and is sent again under the same key until its
 * answer is certain. It works on rows of its own, one after the other, so it knows what must be there in the end.
 */
export interface KeyedClient {
  add(): Promise<void>
  /** Of a row of its own. */
  update(): Promise<void>
  remove(): Promise<void>
  /** What must be there: the number in each row, by its id. */
  rows: Map<string, number>
  /** Ids of rows that were deleted, or never added: they must not be there. */
  gone: Set<string>
  counts: Counts
}

export interface Counts {
  operations: number
  /** Answers after which the same key was sent again. */
  uncertain: number
  replayed: number
  /** The row was another by the time of the write: looked up anew. */
  preconditionFailed: number
}

const maxTries = 200

export function createKeyedClient(sheet: GoogleSheet, name: string, random: () => number): KeyedClient {
  const rows = new Map<string, number>()
  const gone = new Set<string>()
  const counts: Counts = { operations: 0, uncertain: 0, replayed: 0, preconditionFailed: 0 }
  let made = 0

  return {
    rows,
    gone,
    counts,
    async add() {
      const id = `${name}-${made++}`
      const { status, body } = await certain('POST', '', { body: { id, n: 0 } })
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
      rows.set(id, 0)
      counts.operations++
    },
    async update() {
      const id = anyRow()
      if (id === undefined) return
      const n = (rows.get(id) ?? 0) + 1
      const { data } = await onRow('PUT', id, { id, n })
      if (data.id !== id || data.n !== n) throw new Error(`PUT of ${id} answered ${JSON.stringify(data)}`)
      rows.set(id, n)
      counts.operations++
    },
    async remove() {
      const id = anyRow()
      if (id === undefined) return
      const { data } = await onRow('DELETE', id)
      if (data.id !== id) throw new Error(`DELETE of ${id} answered ${JSON.stringify(data)}`)
      rows.delete(id)
      gone.add(id)
      counts.operations++
    },
  }

  function anyRow(): string | undefined {
    const ids = [...rows.keys()]
    return ids[Math.floor(random() * ids.length)]
  }

  /** Its number may be another at each try, so each try is an operation of its own, with its own key. */
  async function onRow(method: 'PUT' | 'DELETE', id: string, body?: object) {
    for (let tries = 0; tries < maxTries; tries++) {
      const found = await certain('GET', `?row_numbers=true&id=${encodeURIComponent(id)}`)
      const rowNumber = found.body[0]?._row
      if (rowNumber === undefined) throw new Error(`${id} is lost: ${JSON.stringify(found.body)}`)
      const seen = await certain('GET', `/${rowNumber}`)
      if (seen.status === 200 && seen.body.id === id) {
        const ifMatch = seen.headers.get('etag') ?? ''
        const answer = await certain(method, `/${rowNumber}`, { ...(body && { body }), ifMatch })
        if (answer.status === 200) return answer.body
        if (answer.status !== 412 && answer.status !== 404) {
          throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
        }
      }
      counts.preconditionFailed++
    }
    throw new Error(`${method} of ${id} never met its row`)
  }

  async function certain(method: string, path: string, wish: object = {}): Promise<Asked> {
    const key = method === 'GET' ? {} : { key: randomUUID() }
    for (let tries = 0; tries < maxTries; tries++) {
      const answer = await sheet.ask(method, path, { ...wish, ...key }).catch(() => null)
      if (answer && answer.status < 500 && answer.status !== 409) {
        if (answer.headers.get('idempotent-replayed')) counts.replayed++
        return answer
      }
      counts.uncertain++
      await sleep(20 + random() * 100)
    }
    throw new Error(`${method} ${path}: no certain answer`)
  }
}

/** What is not as it must be: nothing at all is the aim. */
export function judgeRows(
  cells: readonly (readonly unknown[])[],
  clients: readonly Pick<KeyedClient, 'rows' | 'gone'>[],
) {
  const found = Map.groupBy(cells.slice(1), ([id]) => String(id))
  let lost = 0
  let doubled = 0
  let wrong = 0
  for (const { rows, gone } of clients) {
    for (const [id, n] of rows) {
      const there = found.get(id) ?? []
      if (there.length === 0) lost++
      if (there.length > 1) doubled++
      if (there[0] && there[0][1] !== n) wrong++
    }
    for (const id of gone) if (found.has(id)) wrong++
  }
  const expected = clients.reduce((sum, { rows }) => sum + rows.size, 0)
  return { lost, doubled, wrong, strange: cells.length - 1 - expected }
}
