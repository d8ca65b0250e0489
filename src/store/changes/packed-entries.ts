import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/**
 * Changes repeat the names of columns twice for each row, and wide rows are mostly nulls: packed they are a tenth. Short ones would gain nothing, and
 * long ones stay as they are, because this is done on the thread that serves everyone, or at least unpacking is.
 */
const leastCharacters = 1_024
const mostCharacters = 64 * 1_024
/** For whoever packs on another thread. */
export const mostUnpackedCharacters = 256 * 1_024
/** What is not packed is a JSON list. */
const mark = 'z'

export function packEntries(entries: string, most = mostCharacters): string {
  if (entries.length < leastCharacters || entries.length > most) return entries
  const text = mark + zstdCompressSync(entries).toString('base64')
  return text.length < entries.length ? text : entries
}

export function unpackEntries(text: string): string {
  return text.startsWith(mark) ? zstdDecompressSync(Buffer.from(text.slice(1), 'base64')).toString() : text
}
