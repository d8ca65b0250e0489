import { hash, randomBytes } from 'node:crypto'
import { type BigIntStats, constants, lstatSync, renameSync } from 'node:fs'
import { access, chmod, copyFile, lstat, open, readdir, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { OutcomeUnknown, ProviderFailure } from '../../sheets/provider-failure.ts'
import { justBefore, stampOf, stampThatSuffices } from './file-version.ts'
import { openFile, refuseLink } from './open-file.ts'
import { readIfVersion } from './read-file.ts'
import type { ReplacedFiles } from './replaced-files.ts'

/**
 * New bytes in the place of a file, whole or not at all: temporary file beside it, fsync, rename, fsync of the
 * folder. The temporary file's name is the fence. It is on disk, name and all, before anybody is told of it; from then
 * on its being there means "not done", and its being gone means "done".
 */

const temporaryEnding = '.tmp'
/** Names of files end at 255 bytes, and ours are longer. */
const maxStemBytes = 200
/** No write takes so long: what is older was left by a process that died before its journal knew of it. */
const abandonedMs = 10 * 60 * 1_000

export interface Replacement {
  fence: string
  /** What it is known by, also when it is in its place. */
  identity: BigIntStats
}

/** What the new file holds: these bytes, or the bytes of the old one, while that has this stamp, and these behind them. */
export interface NewContent {
  bytes: Uint8Array
  behind?: string
}

/**
 * 'conflict' where the old one has another stamp. Each call is a turn of one of the few threads that wait for disks, so what need not be
 * asked for is not.
 */
export async function writeReplacement(
  path: string,
  { bytes, behind }: NewContent,
): Promise<Replacement | 'conflict'> {
  const [former] = await Promise.all([
    lstat(path, { bigint: true }),
    // A rename would not mind that the file itself is read-only, but its owner does.
    access(path, constants.W_OK),
  ])
  refuseLink(former)
  const mode = Number(former.mode) & 0o777
  const fence = stemOf(path) + randomBytes(8).toString('hex') + temporaryEnding
  const temporary = join(dirname(path), fence)
  try {
    if (behind !== undefined && !(await copyIfStamp(path, temporary, behind, former))) return 'conflict'
    await using file = await open(temporary, behind === undefined ? 'wx' : 'a', mode)
    await file.appendFile(bytes)
    const made = await file.stat({ bigint: true })
    // The umask may have narrowed the mode, and a file that root replaces must still be its owner's.
    if ((Number(made.mode) & 0o777) !== mode) await file.chmod(mode)
    const isOwnersStill = made.uid === former.uid && made.gid === former.gid
    if (process.getuid?.() === 0 && !isOwnersStill) await file.chown(Number(former.uid), Number(former.gid))
    // Renamed in the same tick of the system's clock, it would look like one that somebody may still be writing to.
    await file.utimes(Number(made.atimeMs) / 1_000, justBefore(made))
    // Nobody is told of it before both are on disk, so neither need wait for the other.
    const [identity] = await Promise.all([file.stat({ bigint: true }), file.sync(), syncFolder(path)])
    return { fence, identity }
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  }
}

/** By the system, so that its bytes do not pass through our memory. False, with no copy, where it is not the file of this stamp from beginning to end. */
async function copyIfStamp(path: string, copy: string, stamp: string, before: BigIntStats): Promise<boolean> {
  if (stampOf(before) !== stamp) return false
  await copyFile(path, copy, constants.COPYFILE_EXCL)
  if (stampOf(await lstat(path, { bigint: true })) !== stamp) {
    await unlink(copy)
    return false
  }
  // The copy is ours, and what its group may write to its owner perhaps may not.
  if ((Number(before.mode) & 0o200) === 0) await chmod(copy, (Number(before.mode) & 0o777) | 0o200)
  return true
}

/** False, with nothing done, when the file is no longer this version. */
export async function putInPlace(
  path: string,
  fence: string,
  version: string,
  replaced: ReplacedFiles,
): Promise<boolean> {
  const stamp = stampThatSuffices(version) ?? (await readIfVersion(path, version))?.stamp
  const former = await openFile(path)
  let isReplaced = false
  try {
    const last = await former.stat({ bigint: true })
    // In one breath: only an edit in the instant between these two can go unseen.
    if (stampOf(last) !== stamp || stampOf(lstatSync(path, { bigint: true })) !== stamp) return false
    rename(join(dirname(path), fence), path)
    isReplaced = true
    replaced.keep(path, former, last)
  } finally {
    if (!isReplaced) await former.close()
  }
  await syncFolder(path).catch((cause: unknown) => {
    throw new OutcomeUnknown('the disk did not confirm the write', { cause, isPassing: true })
  })
  return true
}

/** The file itself was there a moment ago: what is gone is ours, and whoever took it away has settled it as not done. */
function rename(temporary: string, path: string): void {
  try {
    renameSync(temporary, path)
  } catch (cause) {
    if (!isMissing(cause)) throw cause
    throw new ProviderFailure('another instance has taken over; nothing was written, retry in a moment', {
      cause,
      isPassing: true,
      retryAfterSeconds: 1,
    })
  }
}

export async function removeReplacement(path: string, fence: string): Promise<void> {
  await unlink(join(dirname(path), fence)).catch(() => {})
}

/** Whether the replacement took place; if not, it never will, because what it needs is gone. */
export async function wasPutInPlace(path: string, fence: string): Promise<boolean> {
  if (basename(fence) !== fence) throw new Error('A fence is the name of a file')
  try {
    await unlink(join(dirname(path), fence))
    await syncFolder(path)
    return false
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  // A drive that is away has neither: that says nothing.
  await stat(path)
  await syncFolder(path)
  return true
}

/**
 * Clears away what processes left that died between writing a temporary file and telling the journal of it. Those of
 * one file only, and only while its lane is ours: what the journal knows of is settled by then.
 */
export async function removeAbandoned(path: string, nowMs: number): Promise<void> {
  const stem = stemOf(path)
  for (const name of await readdir(dirname(path))) {
    if (!name.startsWith(stem) || !/^[0-9a-f]{16}\.tmp$/.test(name.slice(stem.length))) continue
    const left = await stat(join(dirname(path), name)).catch(() => null)
    if (left && nowMs - left.mtimeMs > abandonedMs) await removeReplacement(path, name)
  }
}

function stemOf(path: string): string {
  const name = basename(path)
  return Buffer.byteLength(name) <= maxStemBytes ? `.${name}.` : `.${hash('sha256', name).slice(0, 32)}.`
}

/** A name is on disk when its folder is. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(dirname(path), 'r')
  await folder.sync()
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
