import { listXlsxTabs } from '../sheets/file/xlsx/xlsx.ts'
import type { Grid } from '../sheets/grid.ts'

/** The tabs of a workbook as a table, so that a worker can find them: a hostile file costs a worker, not the server. */
export async function decodeTabNames(bytes: Uint8Array): Promise<Grid> {
  const names = await listXlsxTabs(bytes)
  return { rows: [['tab'], ...names.map((name) => [name])] }
}
