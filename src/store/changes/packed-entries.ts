import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/**
 * Changes repeat the names of columns twice for each row, and wide rows are mostly nulls: packed they are a tenth. Long ones stay as
 * they are, because this is done on the thread that serves everyone; short ones would gain nothing.
 */
const leastCharacters = 1_024
const mostCharacters = 64 * 1_024
/** What is not packed is a JSON list. */
const mark = 'z'

export function packEntries(entries: string): string {
  if (entries.length < leastCharacters || entries.length > mostCharacters) return entries
  const text = mark + zstdCompressSync(entries).toString('base64')
  return text.length < entries.length ? text : entries
}

export function unpackEntries(text: string): string {
  return text.startsWith(mark) ? zstdDecompressSync(Buffer.from(text.slice(1), 'base64')).toString() : text
}
