import type { TestContext } from 'node:test'
import { seededRandom } from '../../emulator/seeded-random.ts'
import { type GoogleGround, type GoogleSheet, startGoogleGround } from './google-ground.ts'

/** A sheet at Google that a person is at work in. */
export interface SharedSheet {
  rowport: GoogleGround['rowport']
  sheet: GoogleSheet
  /** Inserts, deletes or sorts rows before one of the next calls of the kind that was named, now and then. */
  personEdits(): Promise<void>
}

const rowsAtFirst = 40
const editRate = 0.3

/** `orders` with the columns `id`, `n` and `by`; edits come before calls whose address has `match` in it. */
export async function startSharedSheet(t: TestContext, seed: number, match: string): Promise<SharedSheet> {
  const { local, newSheet, rowport } = await startGoogleGround(t, { speed: 5 })
  const rows = Array.from({ length: rowsAtFirst }, (_, at) => [`row ${at}`, at])
  const sheet = await newSheet('orders', [['id', 'n', 'by'], ...rows])
  const random = seededRandom(seed)
  let edits = 0
  return {
    rowport,
    sheet,
    async personEdits() {
      if (random() > editRate) return
      const values = [`person ${edits++}`, Math.floor(random() * rowsAtFirst)]
      const row = 2 + Math.floor(random() * 10)
      const choices = [
        { op: 'insertRow', row, values },
        { op: 'deleteRow', row },
        { op: 'sort', column: 1 + Math.floor(random() * 2), descending: random() < 0.5 },
      ]
      const edit = choices[Math.floor(random() * choices.length)]
      const beforeCall = match === ':batchUpdate' ? 1 : 1 + Math.floor(random() * 4)
      const { spreadsheetId } = sheet
      await local.control('POST', 'edit', { spreadsheetId, tab: 'Items', match, beforeCall, ...edit })
    },
  }
}
