import { realpathSync, type Stats } from 'node:fs'
import { chmod, lstat, mkdir, readdir, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/**
 * What lies in the data folder is for the server's user alone: hashes of passwords, customers' rows, the secret. The folder
 * is closed to others, and so is each file in it that is ours, for whoever opens the folder or copies it without a thought.
 */
export const folderMode = 0o700
export const fileMode = 0o600
const forOthers = 0o077

/**
 * Makes the folder where it is missing, and closes whatever of it is open to others. Returns what could not be closed, because
 * it is somebody else's.
 */
export async function closeToOthers(dataFolder: string): Promise<string[]> {
  await mkdir(dataFolder, { recursive: true })
  const left: string[] = []
  for (const { path, mode } of await openToOthers(dataFolder)) {
    await chmod(path, mode).catch(() => left.push(path))
  }
  return left
}

export interface OpenEntry {
  path: string
  /** What it should have. */
  mode: number
}

/** Lists what is ours and can be read by others. Files that were connected elsewhere are their owners' to open or close. */
export async function openToOthers(dataFolder: string): Promise<OpenEntry[]> {
  // Windows has no such modes, and tells the same one of every file.
  if (process.platform === 'win32') return []
  const own = ['rowport.db', 'rowport.db-wal', 'rowport.db-shm', 'secret', join('sheets', 'products.csv')]
  const found = [
    await open(dataFolder, folderMode, stat),
    await open(join(dataFolder, 'sheets'), folderMode),
    ...(await Promise.all(own.map((name) => open(join(dataFolder, name), fileMode)))),
  ]
  const uploads = join(dataFolder, 'files')
  found.push(await open(uploads, folderMode, stat))
  for (const account of await namesIn(uploads)) {
    const folder = join(uploads, account)
    found.push(await open(folder, folderMode))
    for (const name of await namesIn(folder)) found.push(await open(join(folder, name), fileMode))
  }
  return found.filter((entry) => entry !== null)
}

/** Tells paths inside the data folder from others, by its name and by where it really is: it, or the uploads in it, may be on another disk. */
export function privatePaths(dataFolder: string): (path: string) => boolean {
  const named = [dataFolder, join(dataFolder, 'files')]
  return (path) =>
    named.some((folder) => isInside(folder, path)) ||
    named.some((folder) => {
      const real = realPathOf(folder)
      return real !== null && isInside(real, path)
    })
}

function isInside(folder: string, path: string): boolean {
  const [first] = relative(folder, path).split(sep)
  // On Windows what is on another drive stays absolute, with its colon.
  return first !== '..' && !first?.endsWith(':')
}

function realPathOf(folder: string): string | null {
  try {
    return realpathSync(folder)
  } catch {
    return null
  }
}

/** Links are not followed, but for folders that are put on another disk that way. */
async function open(
  path: string,
  mode: number,
  statOf: (path: string) => Promise<Stats> = lstat,
): Promise<OpenEntry | null> {
  const entry = await statOf(path).catch(() => null)
  if (!entry || entry.isSymbolicLink()) return null
  return (entry.mode & forOthers) === 0 ? null : { path, mode }
}

function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => [])
}
