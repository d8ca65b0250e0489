import { providerContract } from '../../src/sheets/provider.contract.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { startWritingGround } from './writing-ground.ts'

providerContract(
  'google',
  async (t, rows) => {
    const { local, google, newTab } = await startWritingGround(t)
    const { place, spreadsheetId } = await newTab(rows)
    return {
      provider: google.provider,
      place,
      async editOutside(after: readonly (readonly Cell[])[]) {
        for (const [row, cells] of after.entries()) {
          for (const [column, value] of cells.entries()) {
            await local.control('POST', 'edit', {
              spreadsheetId,
              tab: 'Items',
              op: 'set',
              row: row + 1,
              column: column + 1,
              value,
            })
          }
        }
      },
      remove: () => removeFile(local, spreadsheetId),
    }
  },
  // Google has no conditional writes; what can be noticed, and when, is in test/google/writing-races.test.ts.
  { write: true, noticeEdits: false },
)

async function removeFile(local: Awaited<ReturnType<typeof startWritingGround>>['local'], id: string) {
  const { access_token } = await local.tokens('ada@example.com')
  const answer = await local.api(access_token, 'DELETE', `/drive/v3/files/${id}`)
  if (!answer.ok) throw new Error(await answer.text())
}
