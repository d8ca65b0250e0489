import { constants, renameSync, statSync, unlinkSync } from 'node:fs'
import { copyFile, link, open, readdir, realpath, rm } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { atPath } from '../../providers/file/file-location.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import type { Store } from '../../store/store.ts'
import { Problem } from '../problem.ts'
import { pathIn, sheetsAt } from './file-source.ts'
import { isCode, linkOrReplaceOwn, noSuchFile, syncFolder } from './upload-files.ts'

export interface FileMove {
  accountId: string
  source: string
  from: string
  to: string
}

/** A sheet whose settings are changed at this moment is looked up once more. */
const maxAttempts = 3

/**
 * Gives a file another name, and takes its sheets along. In a turn of its lane: no write of ours is under way. At every moment each
 * sheet points to a name that is there: the file has both names before the sheets follow, and loses the former one afterwards. Whoever is killed in
 * between leaves both; the same rename finishes it, for both are the same file.
 */
export async function moveFile(
  store: Pick<Store, 'sheetsOf' | 'sheetsOfSource' | 'relocateSheets'>,
  { accountId, source, from, to }: FileMove,
): Promise<Problem | null> {
  const folder = await realpath(dirname(from))
  const formerPath = join(folder, basename(from))
  const newPath = join(folder, basename(to))
  const named = await giveSecondName(formerPath, newPath)
  if (named === 'missing') return noSuchFile
  if (named === 'taken') return nameTaken(basename(to))
  if (named === 'had_it' && (await bothHaveSheets())) return nameTaken(basename(to))
  await syncFolder(folder)
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const sheets = (await store.sheetsOfSource(source)).filter(
      ({ location }) => pathIn(location) === formerPath,
    )
    // Where it throws nobody knows whether they follow: both names stay, and whichever a sheet has is there.
    const moved = await store.relocateSheets(
      source,
      sheets.map(({ id, location }) => ({ sheetId: id, from: location, to: atPath(location, newPath) })),
    )
    if (moved === 'being_written') break
    if (moved === 'changed') continue
    leaveFormerName(formerPath, newPath)
    await syncFolder(folder)
    return null
  }
  if (named === 'given') await rm(newPath, { force: true })
  return tooBusy

  async function bothHaveSheets(): Promise<boolean> {
    const sheets = await store.sheetsOf(accountId)
    return [formerPath, newPath].every((path) => sheetsAt(path, sheets).length > 0)
  }
}

/** 'had_it': the two are one file already, because a rename was begun and not finished. Nothing is ever replaced. */
async function giveSecondName(from: string, to: string): Promise<'given' | 'had_it' | 'taken' | 'missing'> {
  try {
    await link(from, to)
    return 'given'
  } catch (error) {
    if (isCode(error, 'ENOENT')) return 'missing'
    if (isCode(error, 'EEXIST')) return (await areTwoNamesOfOne(from, to)) ? 'had_it' : 'taken'
    return copyToName(from, to)
  }
}

/** Some disks know no links (exFAT); the copy gives way to the file itself in the end. */
async function copyToName(from: string, to: string): Promise<'given' | 'taken'> {
  const draft = join(dirname(from), `.${randomBase62(12)}.part${extname(to)}`)
  try {
    await copyFile(from, draft, constants.COPYFILE_EXCL)
    await using copy = await open(draft, 'r+')
    await copy.sync()
    await linkOrReplaceOwn(draft, to)
    return 'given'
  } catch (error) {
    if (isCode(error, 'EEXIST')) return 'taken'
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/** Not where the disk takes capital and small letters for the same: there it is one name, and to leave it would be to delete the file. */
async function areTwoNamesOfOne(from: string, to: string): Promise<boolean> {
  const names = await readdir(dirname(to))
  return names.includes(basename(to)) && names.includes(basename(from)) && isSameFile(from, to)
}

function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev
}

/**
 * In one breath, and by what is there now: somebody who is no write of ours may have put another file under the former name meanwhile, and
 * then that one is the file.
 */
function leaveFormerName(from: string, to: string): void {
  if (isSameFile(from, to)) unlinkSync(from)
  else if (statSync(from, { throwIfNoEntry: false })) renameSync(from, to)
}

function nameTaken(name: string): Problem {
  return new Problem(`You already have a file named ${name}.`, { kind: 'taken', field: 'to' })
}

export const tooBusy = new Problem(
  'The file is being written to all the time. Nothing was renamed. Try again in a moment.',
  { kind: 'busy', retryAfterSeconds: 2 },
)
