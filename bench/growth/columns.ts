import { connectFile, createAccount, openGround } from './ground.ts'
import { loadInTurn } from './load-in-turn.ts'
import { type Axis, powersOfTen } from './point.ts'
import { csvOf } from './tables.ts'

const rows = 1_000

export const columnsAxis: Axis = {
  name: 'columns',
  unit: 'columns of the sheet',
  about: `a CSV file of ${rows} rows, of which 50 are sent; 8 connections`,
  drawn: ['first page'],
  async *measure(store, after, wish) {
    const { seconds } = wish
    const ground = await openGround(store, after)
    const apiKey = await ground.prepare((workshop) => createAccount(workshop))
    for (const columns of powersOfTen(10, 1_000, wish)) {
      const csv = csvOf(rows, columns)
      const slug = `columns-${columns}`
      const path = await ground.prepare((workshop) => connectFile(workshop, ground.folder, slug, csv))
      const { url } = await ground.start()
      const asked = (below: string) => [{ path: path + below, apiKey }]
      const load = (below: string) => loadInTurn(ground, url, asked(below), seconds)
      yield { at: columns, request: 'first page', ...(await load('?limit=50')) }
      yield { at: columns, request: 'filter + sort, first page, two fields', ...(await load(twoFields)) }
      yield { at: columns, request: 'one row by number', ...(await load('/500')) }
    }
  },
}

const twoFields = '?city=City%207&sort=-price&fields=name,price&limit=50'
