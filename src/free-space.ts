import { statfs } from 'node:fs/promises'

/** Bytes that this process may still write to the disk of `folder`; null where the disk does not tell. */
export async function freeSpace(folder: string): Promise<number | null> {
  try {
    const { bsize, bavail, bfree } = await statfs(folder)
    // Some of it is set aside for root.
    return bsize * (process.getuid?.() === 0 ? bfree : bavail)
  } catch {
    return null
  }
}
