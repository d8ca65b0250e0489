import { constants, readlinkSync } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { ProviderFailure } from '../../sheets/provider-failure.ts'

/** Whether a path without links leads to what the server keeps for itself. */
export type IsPrivate = (path: string) => boolean

/**
 * Opens a connected file. Links were followed when it was connected, and never again: whoever may write beside a file could
 * otherwise put a link in its place, and read by it whatever the server can. Folders above it may have become links, for disks get full;
 * but not to what is the server's own.
 */
export async function openFile(path: string, isPrivate?: IsPrivate): Promise<FileHandle> {
  // Without NONBLOCK, opening a named pipe would wait for a writer for ever. Windows has neither of the two.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  if (!isPrivate) return file
  try {
    const real = await pathOf(file, path)
    if (real !== path && isPrivate(real) && !isPrivate(path)) {
      throw new ProviderFailure("the file's folder was replaced by a link to Rowport's own data")
    }
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Where what was opened really is: its path could lead elsewhere by now. The kernel answers from memory. */
async function pathOf({ fd }: FileHandle, path: string): Promise<string> {
  return process.platform === 'linux' ? readlinkSync(`/proc/self/fd/${fd}`) : realpath(path)
}

/** Where the system cannot refuse it while opening, a look before must do. */
export function refuseLink(file: { isSymbolicLink(): boolean }): void {
  if (file.isSymbolicLink()) throw new ProviderFailure(wordsForLinks)
}

export const wordsForLinks =
  'the file was replaced by a link, and links are followed only when a sheet is connected; put the file in its place, or connect the sheet again'
