import assert from 'node:assert/strict'
import { appendFile, rename, utimes, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'
import { startTurnWatch } from '../turn-watch.ts'

const mostTurnMs = 15
/** A server that has just begun loads what it reads with. */
const mostFirstTurnMs = 40
const blankRows = 1_500_000

test('a million blank rows above a row are read, replaced and written to in short turns', async (t) => {
  const rowport = await startRowport(t, { isTimePassing: true })
  const key = { ...bearer(await rowport.createKey()), 'Cache-Control': 'no-cache' }
  const csv = (blank: number) => `id,name\n1,first\n${'\n'.repeat(blank)}2,end\n`
  const { formA, path } = await rowport.connectFile('gaps', 'gaps.csv', csv(blankRows))
  const turns: Record<string, number[]> = {}
  const watched = async (what: string, ask: () => Promise<Response>) => {
    const watch = startTurnWatch()
    const answer = await ask()
    assert.equal(answer.status, 200, what)
    await answer.arrayBuffer()
    turns[what] = watch.stop()
    return answer
  }
  const read = () => rowport.get(formA, key)
  await watched('read', read)
  await writeFile(`${path}.new`, csv(blankRows - 1))
  await utimes(`${path}.new`, new Date(0), new Date(0))
  await rename(`${path}.new`, path)
  const replaced = await watched('read when replaced', read)
  assert.match(replaced.headers.get('x-change-cursor') ?? '', /-\d+$/)
  const write = async (method: string, row: number, body?: object) => {
    const headers = { ...key, 'Content-Type': 'application/json' }
    return fetch(`${rowport.url}${formA}/${row}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
  }
  await watched('change', () => write('PATCH', 2, { name: 'changed' }))
  await watched('read when changed', read)
  await watched('delete', () => write('DELETE', 2))
  await appendFile(path, '3,more\n')
  await watched('read when appended to', read)
  for (const [what, some] of Object.entries(turns))
    t.diagnostic(`${what}: longest turns ${some.slice(0, 4).join(' ')} ms`)
  for (const [what, [longest = 0]] of Object.entries(turns))
    assert.ok(longest <= (what === 'read' ? mostFirstTurnMs : mostTurnMs), `${what}: a turn of ${longest} ms`)
})

test('a file with more rows than are served is refused in words; blank lines at its end are none', async (t) => {
  const rowport = await startRowport(t)
  const key = bearer(await rowport.createKey())
  const blank = Buffer.alloc(20_000_000, '\n')
  const over = await rowport.connectFile(
    'over',
    'over.csv',
    Buffer.concat([Buffer.from('id\n'), blank, Buffer.from('1\n')]),
  )
  const below = await rowport.connectFile(
    'below',
    'below.csv',
    Buffer.concat([Buffer.from('id\n1\n'), blank]),
  )
  const refused = await rowport.get(over.formA, key)
  assert.equal(refused.status, 502)
  assert.match(await refused.text(), /more than 2,000,000 rows, blank ones between others included/)
  const served = await rowport.get(below.formA, key)
  assert.deepEqual(await served.json(), [{ id: 1 }])
})
