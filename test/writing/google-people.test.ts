import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { seededRandom } from '../../emulator/seeded-random.ts'
import { times } from '../soak.ts'
import { startSharedSheet } from './editing-person.ts'
import type { GoogleSheet } from './google-ground.ts'

const seed = 5

test('people insert, delete and sort between our reads: a conditional write never hits another row', async (t) => {
  const { sheet, raced, personEdits } = await start(t, 'values:batchGetByDataFilter|:getByDataFilter')
  const outcome = await writeConditionally(sheet, times(60, 1_000), personEdits)
  t.diagnostic(`edits between reads: ${JSON.stringify({ ...outcome, raced: raced() })}`)
  assert.ok(outcome.updated > 10 && outcome.deleted > 3, 'most get through')
  assert.ok(outcome.preconditionFailed > 0, 'edits were met')
  assert.deepEqual([outcome.hitAnother, outcome.untold, raced()], [0, 0, 0])
})

test('people edit in the instant between our last look and the write: counted, and each one told', async (t) => {
  const { sheet, raced, personEdits } = await start(t, ':batchUpdate')
  const outcome = await writeConditionally(sheet, times(60, 1_000), personEdits)
  t.diagnostic(`edits between look and write: ${JSON.stringify({ ...outcome, raced: raced() })}`)
  assert.ok(outcome.hitAnother > 0, 'Google has no conditional write')
  assert.ok(outcome.hitAnother <= raced(), 'each one was reported')
  assert.equal(outcome.untold, 0, 'the answer shows the row that an update hit')
})

async function start(t: TestContext, match: string) {
  const { rowport, sheet, personEdits } = await startSharedSheet(t, seed, match)
  const raced = () => rowport.seen.filter(({ event }) => event === 'write_raced').length
  return { sheet, raced, personEdits }
}

/** PUT and DELETE with If-Match on rows that were looked up by their id. */
async function writeConditionally(sheet: GoogleSheet, tries: number, personEdits: () => Promise<void>) {
  const random = seededRandom(seed)
  const outcome = { updated: 0, deleted: 0, preconditionFailed: 0, hitAnother: 0, untold: 0 }
  for (let n = 0; n < tries; n++) {
    const list = (await sheet.ask('GET', '?row_numbers=true')).body as { _row: number; id: string }[]
    const ours = list.filter(({ id }) => id.startsWith('row '))
    const wanted = ours[Math.floor(random() * ours.length)]
    if (!wanted) break
    const seen = await sheet.ask('GET', `/${wanted._row}`)
    if (seen.body.id !== wanted.id) continue
    const ifMatch = seen.headers.get('etag') ?? ''
    const isDeletion = random() < 0.2
    await personEdits()
    const { status, body } = isDeletion
      ? await sheet.ask('DELETE', `/${wanted._row}`, { ifMatch })
      : await sheet.ask('PUT', `/${wanted._row}`, { ifMatch, body: { by: wanted.id } })
    if (status !== 200) {
      assert.ok([412, 404].includes(status), JSON.stringify(body))
      outcome.preconditionFailed++
      continue
    }
    outcome[isDeletion ? 'deleted' : 'updated']++
    const cells = await sheet.cells()
    const isHit = isDeletion
      ? cells.some(([id]) => id === wanted.id)
      : cells.some(([id, , by]) => by === wanted.id && id !== wanted.id)
    if (!isHit) continue
    outcome.hitAnother++
    if (!isDeletion && body.data.id === wanted.id) outcome.untold++
    await clean(sheet, wanted.id)
  }
  return outcome
}

/** So that one mistake is not counted again. */
async function clean(sheet: GoogleSheet, id: string): Promise<void> {
  const cells = await sheet.cells()
  const requests = cells.flatMap(([ownId, , by], at) =>
    by === id && ownId !== id
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
