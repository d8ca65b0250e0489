import assert from 'node:assert/strict'
import { bearer } from '../harness.ts'
import { type Change, Follower, type List } from './follower.ts'

/** Reads, writes and follows one sheet as a client does, at any instance. */
export function createClient(key: { value: string; id: string }, formB: string) {
  const headers = bearer(key)
  const client = {
    async list(url: string): Promise<List> {
      for (let tries = 0; tries < 50; tries++) {
        const response = await fetch(`${url}${formB}?row_numbers=true`, {
          headers: { ...headers, 'Cache-Control': 'no-cache' },
        })
        const text = await response.text()
        assert.equal(response.status, 200, text)
        const { data, meta } = JSON.parse(text)
        assert.equal(response.headers.get('X-Change-Cursor'), meta.cursor ?? null)
        // A write is on its way: then no place in the log has exactly these rows.
        if (meta.cursor !== undefined) return { columns: meta.columns, rows: data, cursor: meta.cursor }
      }
      throw new Error('No list has a cursor')
    },
    async changes(url: string, since: string, more = ''): Promise<{ changes: Change[]; cursor: string }> {
      const response = await fetch(`${url}${formB}/changes?since=${since}&limit=1000${more}`, { headers })
      const text = await response.text()
      assert.equal(response.status, 200, text)
      const { data, meta } = JSON.parse(text)
      return { changes: data, cursor: meta.cursor }
    },
    write(url: string, method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      return fetch(`${url}${formB}${path}`, { method, headers: { ...headers, ...more }, ...sent })
    },
    async begin(url: string, isKeyed: boolean): Promise<Follower> {
      return new Follower(await client.list(url), isKeyed)
    },
    /** Follows to the rows as they are now, and no further. Returns what came. */
    async catchUp(url: string, follower: Follower, message: string): Promise<Change[]> {
      const list = await client.list(url)
      const came: Change[] = []
      while (follower.cursor !== list.cursor) {
        const { changes } = await client.changes(url, follower.cursor)
        assert.ok(
          changes.length > 0,
          `${message}: nothing after ${follower.cursor}, rows are of ${list.cursor}`,
        )
        for (const change of changes) {
          if (follower.cursor === list.cursor) break
          const [before, after] = [numberOf(follower.cursor), numberOf(change.cursor)]
          assert.equal(after, before + 1, `${message}: no gap, no double`)
          follower.apply(change)
          came.push(change)
        }
      }
      follower.assertEquals(list, message)
      return came
    },
  }
  return client
}

function numberOf(cursor: string): number {
  return Number(cursor.split('-')[1])
}
