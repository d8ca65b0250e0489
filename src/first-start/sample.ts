import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Workshop } from '../assemble/workshop.ts'
import { Problem } from '../management/problem.ts'
import { locateFile, parseFileLocation } from '../providers/file/file-location.ts'
import { fileMode, folderMode } from '../secrets/private-data.ts'

export const sampleAccount = 'demo'
export const sampleSheet = 'products'

const sampleRows = `name,category,price,in_stock,added
Oak table,Furniture,420,TRUE,2026-03-02
Linen chair,Furniture,129.5,TRUE,2026-03-09
Desk lamp,Lighting,59.9,FALSE,2026-04-17
Wool rug,Textiles,240,TRUE,2026-05-28
`

/**
 * What `npm start` finds on an empty store: an account, a sheet in a file that people can open, and a key for it.
 * Two first starts at once make one sample: whoever made the account makes the key, the other one gets null.
 */
export async function createSample(workshop: Workshop, dataFolder: string): Promise<string | null> {
  const folder = join(dataFolder, 'sheets')
  const path = join(folder, `${sampleSheet}.csv`)
  await mkdir(folder, { recursive: true, mode: folderMode })
  await writeFile(path, sampleRows, { flag: 'wx', mode: fileMode }).catch(keepExisting)
  const account = await workshop.accounts.create(sampleAccount, null)
  const sheet = await workshop.sheets.connect({
    accountSlug: sampleAccount,
    sheetSlug: sampleSheet,
    access: 'private',
    provider: 'file',
    ...locateFile(path, null),
  })
  // Both processes come by here, and for one of them it was there already.
  if (sheet instanceof Problem) mustSucceed(await workshop.sheets.find(sampleAccount, sampleSheet))
  if (account instanceof Problem) return null
  const key = await workshop.keys.create({
    accountSlug: sampleAccount,
    sheetSlug: null,
    name: 'first key',
    mode: 'live',
    scope: 'read-write',
  })
  return mustSucceed(key).value
}

/** Where the sample's file is, or null when this store has no sample (any more). */
export async function findSampleFile(workshop: Workshop): Promise<string | null> {
  const sheet = await workshop.sheets.find(sampleAccount, sampleSheet)
  if (sheet instanceof Problem || sheet.provider !== 'file') return null
  return parseFileLocation(sheet.location).path
}

function keepExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

function mustSucceed<T>(outcome: T | Problem): T {
  if (outcome instanceof Problem) throw new Error(`The sample could not be made: ${outcome.message}`)
  return outcome
}
