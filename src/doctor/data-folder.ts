import { randomBytes } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { access, open, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { freeSpace } from '../free-space.ts'
import { inTheFolder } from '../plain-words.ts'
import { keptSecretPath } from '../secrets/kept-secret.ts'
import { openToOthers } from '../secrets/private-data.ts'
import { type Finding, fine, wrong } from './finding.ts'
import { inUnits } from './units.ts'

/** Below this, a day of figures and journals may fill it. */
const littleBytes = 50_000_000
const triedBytes = 64 * 1024

/** There, writable, and with room. A file is written and removed again: nothing else tells for certain. */
export async function examineDataFolder(folder: string): Promise<Finding> {
  try {
    if (!(await stat(folder)).isDirectory())
      return wrong('Data folder', `${folder} is not a folder.`, 'Set ROWPORT_DATA to a folder.')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return examineMissing(folder)
    return wrong('Data folder', `${folder}: ${wordsFor(error)}.`, 'Let the user that runs Rowport use it.')
  }
  const freeBytes = await freeSpace(folder)
  const room = freeBytes === null ? 'its disk does not tell how much is free' : `${inUnits(freeBytes)} free`
  try {
    await tryToWrite(folder)
  } catch (error) {
    return wrong(
      'Data folder',
      `${folder} cannot be written to: ${wordsFor(error)} (${room}).`,
      isFull(error)
        ? 'Make room on that disk; Rowport continues by itself. Nothing that was acknowledged is lost.'
        : 'Let the user that runs Rowport write there, or set ROWPORT_DATA to another folder.',
    )
  }
  if (freeBytes !== null && freeBytes < littleBytes)
    return wrong(
      'Data folder',
      `${folder} can be written to, but its disk is nearly full: ${room}.`,
      'Make room on that disk.',
    )
  return fine('Data folder', `${folder} can be written to, ${room}.`)
}

/** null when only the server's user may read it. Before the first start nothing is there to be seen, and the start closes it. */
export async function examineModes(folder: string): Promise<Finding | null> {
  if (!existsSync(join(folder, 'rowport.db'))) return null
  // The secret has a check of its own.
  const open = (await openToOthers(folder)).filter(({ path }) => path !== keptSecretPath(folder))
  const [first] = open
  if (!first) return null
  const more = open.length === 1 ? '' : `, and ${open.length - 1} more in it`
  return wrong(
    'Data folder',
    `${first.path} can be read by other users of this machine${more}.`,
    `Every start closes what belongs to its user: start the server again, or give the folder to its user (chown -R) first. By hand: chmod ${first.mode.toString(8)} ${first.path}`,
  )
}

/** The first start makes it, and what is missing above it, if it may. */
async function examineMissing(folder: string): Promise<Finding> {
  let above = dirname(folder)
  while (!existsSync(above) && dirname(above) !== above) above = dirname(above)
  try {
    await access(above, constants.W_OK)
    return fine('Data folder', `${folder} is not there yet; the first start makes it.`)
  } catch {
    const says = `${folder} is not there, and it cannot be made: writing to ${above} is not allowed.`
    return wrong(
      'Data folder',
      says,
      'Make it for the user that runs Rowport, or set ROWPORT_DATA to another.',
    )
  }
}

async function tryToWrite(folder: string): Promise<void> {
  const path = join(folder, `.rowport-doctor-${randomBytes(6).toString('hex')}.tmp`)
  try {
    await using file = await open(path, 'wx', 0o600)
    await file.writeFile(Buffer.alloc(triedBytes, 1))
    await file.sync()
  } finally {
    await unlink(path).catch(() => {})
  }
}

function isFull(error: unknown): boolean {
  return codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT'
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function wordsFor(error: unknown): string {
  return inTheFolder[codeOf(error)] ?? (error instanceof Error ? error.message : String(error))
}
