import { randomBytes } from 'node:crypto'
import { open, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { versionOf } from './file-version.ts'

/**
 * Puts new bytes in the place of a file, whole or not at all, on disk before it returns: temporary file beside it,
 * fsync, rename, fsync of the folder. False, with nothing done, when the file is no longer the version we started
 * from; only an edit in the instant between that look and the rename can go unseen.
 */
export async function replaceFile(
  path: string,
  bytes: Uint8Array,
  expectedVersion: string,
): Promise<boolean> {
  const former = await stat(path, { bigint: true })
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    await using file = await open(temporary, 'wx', Number(former.mode) & 0o777)
    await file.writeFile(bytes)
    // The umask may have narrowed the mode, and a file that root replaces must still be its owner's.
    await file.chmod(Number(former.mode) & 0o777)
    if (process.getuid?.() === 0) await file.chown(Number(former.uid), Number(former.gid))
    await file.sync()
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  }
  try {
    if (versionOf(await stat(path, { bigint: true })) !== expectedVersion) {
      await unlink(temporary)
      return false
    }
    // Opened before: once the file is in its place, nothing may fail that could have failed earlier.
    await using folder = await open(dirname(path), 'r')
    await rename(temporary, path)
    await folder.sync()
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  }
  return true
}
