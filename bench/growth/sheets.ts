import { connectFile, createAccount, openGround } from './ground.ts'
import { idleSecond } from './idle-second.ts'
import { askEachOnce, loadInTurn } from './load-in-turn.ts'
import { type Axis, powersOfTen } from './point.ts'
import { csvOf } from './tables.ts'

const most = 1_000
const rows = 100

export const sheetsAxis: Axis = {
  name: 'sheets',
  unit: 'sheets in use at once',
  about: `CSV files of ${rows} rows in one account, read in turn; {"sheets": ${most}} in ROWPORT_SHARES; 8 connections`,
  drawn: ['first page, sheet after sheet'],
  async *measure(store, after, wish) {
    const { seconds } = wish
    const ground = await openGround(store, after, { ROWPORT_SHARES: JSON.stringify({ sheets: most }) })
    const apiKey = await ground.prepare((workshop) => createAccount(workshop))
    const csv = csvOf(rows)
    const paths: string[] = []
    for (const sheets of powersOfTen(1, most, wish)) {
      await ground.prepare(async (workshop) => {
        while (paths.length < sheets)
          paths.push(await connectFile(workshop, ground.folder, `sheet-${paths.length}`, csv))
      })
      const { url } = await ground.start()
      const asked = paths.map((path) => ({ path: `${path}?limit=50`, apiKey }))
      const end = ground.begin()
      const coldMs = performance.now()
      await askEachOnce(url, asked)
      const eachMs = (performance.now() - coldMs) / sheets
      yield {
        at: sheets,
        request: 'each read for the first time',
        ...end(sheets),
        p50Ms: eachMs,
        p99Ms: eachMs,
      }
      yield {
        at: sheets,
        request: 'first page, sheet after sheet',
        ...(await loadInTurn(ground, url, asked, seconds)),
      }
      yield { at: sheets, request: 'a second without requests', ...(await idleSecond(ground)) }
    }
  },
}
