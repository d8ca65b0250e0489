import assert from 'node:assert/strict'
import { rename, utimes, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'
import { startTurnWatch } from '../turn-watch.ts'

const mostTurnMs = 15

for (const [what, csv] of Object.entries({ narrow, wide })) {
  test(`changes of all rows of a long ${what} file are logged in a short turn`, (t) => replaceAllRows(t, csv))
}

async function replaceAllRows(t: TestContext, csv: (word: string) => string): Promise<void> {
  const rowport = await startRowport(t, { isTimePassing: true })
  const key = bearer(await rowport.createKey())
  const { formA, path } = await rowport.connectFile('large', 'large.csv', csv('a'))
  const read = async (more = '') => {
    const answer = await rowport.get(`${formA}${more}`, { ...key, 'Cache-Control': 'no-cache' })
    assert.equal(answer.status, 200)
    return answer
  }
  await read('?limit=1')
  const turns: number[][] = []
  for (const word of ['b', 'c', 'd']) {
    await writeFile(`${path}.new`, csv(word))
    await utimes(`${path}.new`, new Date(0), new Date(0))
    await rename(`${path}.new`, path)
    const watch = startTurnWatch()
    const answer = await read('?limit=1')
    turns.push(watch.stop())
    const cursor = answer.headers.get('x-change-cursor') ?? ''
    assert.match(cursor, /-\d{4,}$/, 'each row is a change')
  }
  for (const some of turns) t.diagnostic(`longest turns ${some.join(' ')} ms`)
  const best = Math.min(...turns.map(([longest = 0]) => longest))
  assert.ok(best <= mostTurnMs, `turns of ${best} ms and more`)
}

/** One cell of each row tells one version from another. */
function narrow(word: string): string {
  return `a\n${Array.from({ length: 40_000 }, (_, nth) => `${word}${nth}\n`).join('')}`
}

function wide(word: string): string {
  const others = Array.from({ length: 20 }, (_, nth) => `some value ${nth}`).join()
  const names = Array.from({ length: 20 }, (_, nth) => `c${nth}`).join()
  return `word,${names}\n${Array.from({ length: 7_000 }, (_, nth) => `${word}${nth},${others}\n`).join('')}`
}
