import { listXlsxTabs } from '../../providers/file/xlsx/read/xlsx.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import type { Grid } from '../../sheets/rows/grid.ts'

/**
 * The tabs of a workbook as a table, so that a worker can find them: a hostile file costs a worker, not the server. That it
 * is no workbook is an answer as well. So whatever else fails on the way says nothing about the file.
 */
export async function decodeTabNames(bytes: Uint8Array): Promise<Grid> {
  try {
    const names = await listXlsxTabs(bytes)
    return { rows: [['tab'], ...names.map((name) => [name])] }
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error
    return { rows: [['problem'], [error.message]] }
  }
}
