import { stat } from 'node:fs/promises'
import { atPath, kindOf, locateFile, parseFileLocation } from '../../providers/file/file-location.ts'
import type { Decoding } from '../../sheets/reading/decoding.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import { Problem } from '../problem.ts'
import type { Connecting } from '../sheets/connecting.ts'
import { sheetsAt } from './file-source.ts'
import { createWorkbookTabs } from './workbook-tabs.ts'

export interface UploadedFile {
  name: string
  /** null for a file without tabs, and for one that could not be looked into. */
  tabs: string[] | null
  /** Why it could not; null where all is well. */
  problem: string | null
  bytes: number
  modifiedAtMs: number
  /** The slugs of those that are connected to it. */
  sheets: string[]
}

/** What can be said of a file by looking into it, as the sheets that are connected to it would. */
export interface UploadInspection {
  describe(
    accountId: string,
    path: string,
    name: string,
    sheets: readonly SheetRecord[],
  ): Promise<UploadedFile>
  /** Only what is certain: a workbook that cannot be looked into at the moment is kept. */
  problemWithWorkbook(accountId: string, path: string): Promise<Problem | null>
  /** Reads it as each of the sheets will; without any, as one would. */
  problemForSheets(accountId: string, path: string, sheets: readonly SheetRecord[]): Promise<Problem | null>
}

export function createUploadInspection(
  decoding: Decoding,
  connecting: Pick<Connecting, 'preview'>,
): UploadInspection {
  const tabs = createWorkbookTabs(decoding)

  return {
    async describe(accountId, path, name, sheets) {
      const { size, mtimeMs } = await stat(path)
      const connected = sheetsAt(path, sheets).map(({ slug }) => slug)
      const file = { name, bytes: size, modifiedAtMs: Math.round(mtimeMs), sheets: connected }
      if (kindOf(name) === 'csv') return { ...file, tabs: null, problem: null }
      const found = await tabs.of(accountId, path)
      if ('tabs' in found) return { ...file, tabs: found.tabs, problem: null }
      return { ...file, tabs: null, problem: 'notNow' in found ? found.notNow : found.notAWorkbook }
    },
    async problemWithWorkbook(accountId, path) {
      if (kindOf(path) === 'csv') return null
      const found = await tabs.of(accountId, path)
      return 'notAWorkbook' in found ? new Problem(found.notAWorkbook, { kind: 'provider' }) : null
    },
    async problemForSheets(accountId, path, sheets) {
      const { location: ofNewFile } = locateFile(path, null)
      const { path: newPath } = parseFileLocation(ofNewFile)
      // The same tab, in the same encoding.
      const byLocation = Map.groupBy(sheets, ({ location }) => atPath(location, newPath))
      if (byLocation.size === 0) byLocation.set(ofNewFile, [])
      for (const [location, users] of byLocation) {
        const seen = await connecting.preview('file', { accountId, location, credentialId: null })
        if (!(seen instanceof Problem)) continue
        const slugs = users.map(({ slug }) => slug)
        const whose = slugs.length === 0 ? '' : ` for ${listSlugs(slugs)}`
        const message = `The file was not replaced, because the new one cannot be read${whose}: ${seen.message}`
        return new Problem(message, { ...seen.facts, field: 'file' })
      }
      return null
    },
  }
}

/** As people name several things: "a, b, and c". */
export function listSlugs(slugs: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(slugs)
}
