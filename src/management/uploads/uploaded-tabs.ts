import type { FileKind } from '../../providers/file/file-location.ts'
import { listOdsTabs } from '../../providers/file/ods/ods.ts'
import { listXlsxTabs } from '../../providers/file/xlsx/read/xlsx.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import type { Grid } from '../../sheets/rows/grid.ts'

/** All of an account's files are listed with their tabs, in one go. */
const maxTabs = 1_000
const maxCharacters = 20_000

/**
 * The tabs of a workbook as a table, so that a worker can find them: a hostile file costs a worker, not the server. That it
 * is no workbook is an answer as well. So whatever else fails on the way says nothing about the file.
 */
export async function decodeTabNames(bytes: Uint8Array, { kind }: { kind: FileKind }): Promise<Grid> {
  try {
    const names = await (kind === 'ods' ? listOdsTabs : listXlsxTabs)(bytes)
    const characters = names.reduce((sum, name) => sum + name.length, 0)
    if (names.length > maxTabs || characters > maxCharacters)
      throw new ProviderFailure(
        `the workbook has more than ${maxTabs.toLocaleString('en')} tabs, or very long names of them; split it into several`,
      )
    return { rows: [['tab'], ...names.map((name) => [name])] }
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error
    return { rows: [['problem'], [error.message]] }
  }
}
