import { readFile, stat } from 'node:fs/promises'
import { TooManyAtOnce } from '../../errors.ts'
import { kindOf } from '../../providers/file/file-location.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import type { Decoding } from '../../sheets/reading/decoding.ts'

/** The tabs of workbooks. Each version of a file is opened once. */
export interface WorkbookTabs {
  of(accountId: string, path: string): Promise<TabsFound>
}

export type TabsFound =
  | { tabs: string[] }
  /** For certain, and why. */
  | { notAWorkbook: string }
  /** It could not be looked into: that says nothing about the file. */
  | { notNow: string }

/** Each is a few names. */
const maxKnown = 2_000

export function createWorkbookTabs(decoding: Decoding): WorkbookTabs {
  const known = new Map<string, { version: string; found: TabsFound }>()

  return {
    async of(accountId, path) {
      const { size, mtimeMs, ino } = await stat(path)
      const version = `${ino} ${size} ${mtimeMs}`
      const former = known.get(path)
      if (former?.version === version) return former.found
      const found = await findTabs(accountId, path, size)
      known.delete(path)
      if ('notNow' in found) return found
      if (known.size >= maxKnown) known.delete(known.keys().next().value ?? '')
      known.set(path, { version, found })
      return found
    },
  }

  async function findTabs(accountId: string, path: string, bytes: number): Promise<TabsFound> {
    try {
      const rows = await decodeTabs(accountId, path, bytes)
      const problem = rows[0]?.problem
      if (problem !== undefined) return { notAWorkbook: String(problem) }
      return { tabs: rows.map(({ tab }) => String(tab)) }
    } catch (error) {
      if (error instanceof ProviderFailure) return { notNow: error.message }
      if (error instanceof TooManyAtOnce)
        return { notNow: 'it could not be looked into; try again in a moment' }
      throw error
    }
  }

  async function decodeTabs(
    accountId: string,
    path: string,
    bytes: number,
  ): Promise<{ tab?: unknown; problem?: unknown }[]> {
    const module = new URL('./uploaded-tabs.ts', import.meta.url).href
    const decoder = { module, name: 'decodeTabNames', options: { kind: kindOf(path) } }
    const { snapshot } = await decoding.decode(accountId, async (turn) => {
      await turn.begin(bytes)
      return { bytes: await readFile(path), version: '', decoder }
    })
    return JSON.parse(Buffer.from(snapshot.listJson).toString())
  }
}
