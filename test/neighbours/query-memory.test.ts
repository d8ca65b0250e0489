import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { freshPlace } from '../process/running.ts'
import { exchange, writeQuietly } from '../shares/neighbours.ts'
import { patienceMs, times } from '../soak.ts'

// Three accounts with many rows, each with as many of the dearest queries at once as it may have. In `npm test` the sheets are
// smaller, and so is the bound.
const rows = times(400_000, 2_400_000)
const mostResidentMb = times(450, 1_500)
const rounds = times(1, 5)
const skip = existsSync('/proc/self/status') ? false : 'resident memory is read from /proc'

test('the dearest queries of three accounts stay within a bound of memory', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const place = await freshPlace(t)
  const server = await place.start()
  const csv = `a\n${Array.from({ length: rows }, (_, n) => n).join('\n')}\n`
  const keys = new Map<string, string>()
  for (const account of ['one', 'two', 'three']) {
    await rowport(['account', 'create', account, '--plan', 'enterprise'])
    const file = `${place.folder}/${account}.csv`
    await writeQuietly(file, csv)
    await rowport(['sheet', 'connect', `${account}/rows`, '--file', file])
    await rowport(['sheet', 'set', `${account}/rows`, '--cache-seconds', '3600'])
    const made = await rowport(['key', 'create', account, '--name', 'test', '--json'])
    keys.set(account, (JSON.parse(made) as { key: string }).key)
    assert.equal((await ask(account, 'a=5')).status, 200)
  }
  let mostMb = 0
  const watch = setInterval(() => {
    mostMb = Math.max(mostMb, residentMb())
  }, 50)
  t.after(() => clearInterval(watch))
  const filters = Array.from({ length: 50 }, (_, n) => `a[ne]=${n * 7}`).join('&')
  for (let round = 0; round < rounds; round++) {
    const asked = [...keys.keys()].flatMap((account) =>
      Array.from({ length: 8 }, () => ask(account, `${filters}&sort=-a&limit=1`)),
    )
    for (const { status, body } of await Promise.all(asked)) {
      assert.equal(status, 200, body.toString())
      assert.equal(body.toString(), `[{"a":${rows - 1}}]`)
    }
  }
  clearInterval(watch)
  t.diagnostic(`resident at most ${mostMb.toFixed(0)} MB`)
  assert.ok(mostMb > 0 && mostMb < mostResidentMb, `${mostMb.toFixed(0)} MB`)

  async function rowport(words: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await place.rowportHere(words)
    assert.equal(code, 0, stderr)
    return stdout
  }

  function ask(account: string, query: string) {
    const headers = { Authorization: `Bearer ${keys.get(account)}` }
    return exchange(server.port, `/api/sheets/${account}/rows?${query}`, { headers })
  }

  function residentMb(): number {
    const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024
  }
})
