import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { seededRandom } from '../../emulator/seeded-random.ts'
import { done } from '../harness.ts'
import { patienceMs, times } from '../soak.ts'
import { startSharedSheet } from '../writing/editing-person.ts'
import type { GoogleSheet } from '../writing/google-ground.ts'

const seed = 11

for (const isTall of [false, true])
  test(`people insert, delete and sort between our reads${isTall ? ' of a very tall tab' : ''}: a write by key never hits a row of another key`, {
    timeout: patienceMs,
  }, async (t) => {
    const tries = times(isTall ? 20 : 40, 1_000)
    const { sheet, personEdits } = await start(t, 'values:batchGetByDataFilter|:getByDataFilter', isTall)
    const outcome = await writeByKey(sheet, tries, personEdits)
    t.diagnostic(`edits between reads: ${JSON.stringify(outcome)}`)
    assert.ok(outcome.done > tries / 2, 'most get through, wherever the row stands by then')
    assert.deepEqual([outcome.hitAnother, outcome.untold], [0, 0])
  })

test('people edit in the instant between our last look and the write: whoever wrote by key is told', {
  timeout: patienceMs,
}, async (t) => {
  const { sheet, personEdits } = await start(t, ':batchUpdate')
  const outcome = await writeByKey(sheet, times(40, 1_000), personEdits)
  t.diagnostic(`edits between look and write: ${JSON.stringify(outcome)}`)
  assert.ok(outcome.hitAnother > 0, 'Google has no conditional write')
  assert.equal(outcome.untold, 0, 'each one that hit another row says so')
})

/** `isTall`: so that the key column is read apart from the rows. */
async function start(t: TestContext, match: string, isTall = false) {
  const shared = await startSharedSheet(t, seed, match)
  if (isTall)
    await shared.sheet.batchUpdate({ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 60_000 } })
  done(await shared.rowport.workshop.sheets.change('acme', 'orders', { keyColumn: 'id' }))
  return shared
}

/** Changes, upserts and deletions of rows that a client knows by their ids. */
async function writeByKey(sheet: GoogleSheet, tries: number, personEdits: () => Promise<void>) {
  const random = seededRandom(seed)
  const outcome = { done: 0, notFound: 0, hitAnother: 0, warned: 0, untold: 0 }
  for (let n = 0; n < tries; n++) {
    const ours = (await sheet.cells()).flatMap(([id]) => (String(id).startsWith('row ') ? String(id) : []))
    const id = ours[Math.floor(random() * ours.length)]
    if (id === undefined) break
    const before = await sheet.cells()
    const at = `/by/id/${encodeURIComponent(id)}`
    const dice = random()
    await personEdits()
    const mark = `${id} ${n}`
    const answer =
      dice < 0.5
        ? await sheet.ask('PATCH', at, { body: { by: mark } })
        : dice < 0.75
          ? await sheet.ask('POST', '?upsert=id', { body: { id, by: mark } })
          : await sheet.ask('DELETE', at)
    if (answer.status === 404) {
      outcome.notFound++
      continue
    }
    assert.ok([200, 201].includes(answer.status), JSON.stringify(answer.body))
    outcome.done++
    const warning = answer.headers.get('x-rowport-warning')
    if (warning !== null) outcome.warned++
    const cells = await sheet.cells()
    const isDeletion = dice >= 0.75
    const isHit = isDeletion
      ? cells.some(([own]) => own === id) && before.some(([own]) => own === id)
      : cells.some(([own, , by]) => by === mark && own !== id)
    if (!isHit) continue
    outcome.hitAnother++
    if (warning === null) outcome.untold++
    await clean(sheet, mark)
  }
  return outcome
}

/** So that one mistake is not counted again. */
async function clean(sheet: GoogleSheet, mark: string): Promise<void> {
  const cells = await sheet.cells()
  const requests = cells.flatMap(([, , by], at) =>
    by === mark
      ? {
          updateCells: {
            start: { sheetId: 0, rowIndex: at, columnIndex: 2 },
            rows: [{ values: [{}] }],
            fields: 'userEnteredValue',
          },
        }
      : [],
  )
  if (requests.length > 0) await sheet.batchUpdate(...requests)
}
