import { GoneMeanwhile } from '../errors.ts'
import { inTurns } from '../shares/in-turns.ts'
import { type LoggedChange, readChanges } from '../sheets/logged-change.ts'
import { ownBuffer } from '../sheets/threads/thread-jobs.ts'
import type { Soon } from '../soon.ts'
import type { LongEntries } from '../store/changes/change-log.ts'
import { createOutline } from './entries-outline.ts'
import { longText, textOf } from './long-text.ts'
import { type LongTexts, longNames, type ReadChange } from './read-change.ts'

/** Taken from the store in one go, and looked through in several. */
const sliceBytes = 2 * 1024 * 1024

export interface ReadEntries<Change = ReadChange> {
  changes: Change[]
  /** How long they are as JSON. */
  characters: number
}

export interface ReadLongEntries extends ReadEntries {
  /** How much of that was parsed. */
  parsedBytes: number
}

export function readShort(entries: string): ReadEntries {
  return { changes: readChanges(entries).map((change) => ({ change })), characters: entries.length }
}

/** What is long may be forgotten while it is read. */
export function nullIfGone<T>(reading: Promise<T>): Promise<T | null> {
  return reading.catch((error: unknown) => {
    if (error instanceof GoneMeanwhile) return null
    throw error
  })
}

/** `nextTurn`: for each part of what would be a long turn. */
export async function readLong(
  entries: LongEntries,
  nextTurn: () => Soon<void>,
  isWithLost = false,
): Promise<ReadLongEntries> {
  const outline = createOutline(isWithLost)
  for (let at = 0; at < entries.bytes; ) {
    await nextTurn()
    const slice = await entries.slice(at, sliceBytes)
    at += slice.byteLength
    await inTurns(outline.take(slice), nextTurn)
  }
  const changes = outline.changes.map(({ change, long }) => {
    if (long.length === 0) return { change }
    const texts: LongTexts = {}
    for (const { name, from, to, characters } of long) {
      delete change[name]
      texts[name] = longText(entries, { from, to, characters })
    }
    return { change, long: texts }
  })
  return { changes, characters: outline.characters(), parsedBytes: outline.parsedBytes() }
}

/** The JSON itself, for whoever hands it on. */
export async function bytesOf(
  entries: string | LongEntries,
  nextTurn: () => Soon<void>,
): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof entries === 'string') return ownBuffer(Buffer.from(entries))
  const bytes = new Uint8Array(entries.bytes)
  for (let at = 0; at < entries.bytes; ) {
    await nextTurn()
    const slice = await entries.slice(at, sliceBytes)
    bytes.set(slice, at)
    at += slice.byteLength
  }
  return bytes
}

/** With all texts in memory, and what it takes to undo them: for whoever goes on to work with them. */
export async function readWhole(
  entries: string | LongEntries,
  nextTurn: () => Soon<void>,
): Promise<ReadEntries<LoggedChange>> {
  if (typeof entries === 'string') return { changes: readChanges(entries), characters: entries.length }
  const { changes, characters } = await readLong(entries, nextTurn, true)
  for (const { change, long = {} } of changes)
    for (const name of longNames) {
      const text = long[name]
      if (text) change[name] = await textOf(text, nextTurn)
    }
  return { changes: changes.map(({ change }) => change), characters }
}
