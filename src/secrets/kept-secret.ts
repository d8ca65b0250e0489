import { randomBytes } from 'node:crypto'
import { constants, copyFile, link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, minSecretLength } from '../config.ts'
import { fileMode } from './private-data.ts'

const secretBytes = 32

/**
 * The secret that seals credentials: the one that was set, else one of our own, made at the first start and kept in
 * the data folder. Whoever sets one later must list the kept one under ROWPORT_FORMER_SECRETS.
 */
export async function secretOf({
  secret,
  dataFolder,
}: Pick<Config, 'secret' | 'dataFolder'>): Promise<string> {
  if (secret !== null) return secret
  return (await keptSecret(dataFolder)) ?? (await makeKept(keptSecretPath(dataFolder), dataFolder))
}

/** null when none was made yet. */
export function keptSecret(dataFolder: string): Promise<string | null> {
  return readKept(keptSecretPath(dataFolder))
}

export function keptSecretPath(dataFolder: string): string {
  return join(dataFolder, 'secret')
}

async function readKept(path: string): Promise<string | null> {
  let text: string
  try {
    text = (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null
    throw error
  }
  // Never replaced by a new one: that would lock out everything that the damaged one sealed.
  if (text.length < minSecretLength) {
    throw new Error(`${path} holds no secret; put it back from a backup, or remove the file to start over`)
  }
  return text
}

/**
 * Written whole beside its place and then linked into it: of two processes that start at once one wins, and neither
 * can read half a secret, as it could of a file that is opened first and written then.
 */
async function makeKept(path: string, dataFolder: string): Promise<string> {
  await mkdir(dataFolder, { recursive: true })
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const made = randomBytes(secretBytes).toString('base64url')
  try {
    await using file = await open(temporary, 'wx', fileMode)
    await file.chmod(fileMode)
    await file.writeFile(`${made}\n`)
    await file.sync()
    await linkOrCopy(temporary, path)
    await using folder = await open(dataFolder, 'r')
    await folder.sync()
    return made
  } catch (error) {
    const kept = isCode(error, 'EEXIST') ? await readKept(path) : null
    if (kept === null) throw error
    return kept
  } finally {
    await unlink(temporary).catch(() => {})
  }
}

/** Some disks know no links (exFAT). The copy does not replace a file either; only its half could be read. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (isCode(error, 'EEXIST')) throw error
    await copyFile(from, to, constants.COPYFILE_EXCL)
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
