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

/** Beside the folders; SQLite puts three files beside its own, and a secret that was not finished has a name of its own. */
const ownFile = /^(?:rowport\.db(?:-wal|-shm|-journal)?|secret(?:\.[0-9a-f]+\.tmp)?)$/
/** We put nothing deeper: whatever somebody else has there is closed with the folder above it. */
const deepest = 3

/**
 * Lists what is ours and can be read by others: the folders of sheets and uploads with all that lies in them, and beside them
 * what has one of our names. Files that were connected elsewhere are their owners' to open or close.
 */
export async function openToOthers(dataFolder: string): Promise<OpenEntry[]> {
  // Windows has no such modes, and tells the same one of every file.
  if (process.platform === 'win32') return []
  const names = (await namesIn(dataFolder)).filter((name) => ownFile.test(name))
  const sheets = join(dataFolder, 'sheets')
  const uploads = join(dataFolder, 'files')
  const found = [
    await open(dataFolder, folderMode, stat),
    await open(sheets, folderMode),
    await open(uploads, folderMode, stat),
    ...(await Promise.all(names.map((name) => open(join(dataFolder, name), fileMode)))),
    // Where somebody has put a link for the folder, the rest of what it leads to is theirs.
    ...((await isLink(sheets))
      ? [await open(join(sheets, 'products.csv'), fileMode)]
      : await openWithin(sheets, 1)),
    ...(await openWithin(uploads, 1)),
  ]
  return found.filter((entry) => entry !== null)
}

/** Whether owners have put files there: so it is ours, also where the database is elsewhere. */
export async function hasUploads(dataFolder: string): Promise<boolean> {
  return (await namesIn(join(dataFolder, 'files'))).some((name) => name.startsWith('acc_'))
}

/** One entry after the other: a start has the time, and there may be very many. */
async function openWithin(folder: string, depth: number): Promise<OpenEntry[]> {
  const found: (OpenEntry | null)[] = []
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isFile()) found.push(await open(path, fileMode))
    if (!entry.isDirectory()) continue
    found.push(await open(path, folderMode))
    if (depth < deepest) found.push(...(await openWithin(path, depth + 1)))
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

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isSymbolicLink() ?? false
}

function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => [])
}
