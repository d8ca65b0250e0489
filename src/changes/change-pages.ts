import type { Logged } from '../sheets/sheet-log.ts'
import { idleTimers, type Timers } from '../timers.ts'
import { cursorText } from './cursor.ts'
import type { Following } from './following.ts'
import { charactersOf } from './read-change.ts'
import { type ChangesRead, everyChange, type ReadingChanges, type ToldChange } from './reading-changes.ts'

/**
 * The log in pages, for any number of followers: all who stand at the same place are handed the same page, which was read once. So
 * whoever makes something of a page can keep it with it.
 */
export interface ChangePages {
  /** Hands over what comes after a place, once, now or as soon as there is something. Whoever leaves before is not called any more. */
  next(sheetId: string, place: Logged, take: (page: ChangePage) => void): Leave
}

export type Leave = () => void

export interface ChangePage {
  changes: readonly ToldChange[]
  /** Where the next one begins. */
  next: Logged
  /** Why there is none. */
  end: NonNullable<ChangesRead['over']> | 'closing' | null
}

export interface ChangePagesParts {
  changes: Pick<ReadingChanges, 'after'>
  following: Pick<Following, 'waitFor'>
  timers?: Timers
}

/** Slow readers hold on to their page: this is what each costs. A single change may be longer. */
const pageCharacters = 64 * 1024
/** Pages that were read lately, for those who come a little later, after a break above all; and what was made of each is kept with it. */
const mostKept = 256
/** One with a change that is longer than all others is read again for whoever comes later. */
const mostKeptCharacters = 4 * pageCharacters
const readTogether = 1_000
const waitMs = 60 * 60 * 1_000
/** The store is away. */
const tryAgainMs = 1_000

interface Entry {
  page: ChangePage | null
  takers: Set<(page: ChangePage) => void>
  /** Ends the waiting for it. */
  stop(): void
}

export function createChangePages({
  changes,
  following,
  timers = idleTimers,
}: ChangePagesParts): ChangePages {
  const entries = new Map<string, Entry>()
  /** Those that have a page, the oldest first. */
  const kept = new Set<string>()

  return {
    next(sheetId, place, take) {
      const name = nameOf(sheetId, place)
      const entry = entries.get(name) ?? begin(sheetId, place)
      if (entry.page) {
        take(entry.page)
        return () => {}
      }
      entry.takers.add(take)
      return () => {
        entry.takers.delete(take)
        if (entry.takers.size > 0 || entry.page) return
        if (entries.get(name) === entry) entries.delete(name)
        entry.stop()
      }
    },
  }

  function begin(sheetId: string, place: Logged): Entry {
    const entry: Entry = { page: null, takers: new Set(), stop() {} }
    entries.set(nameOf(sheetId, place), entry)
    void readFor(entry, sheetId, place)
    return entry
  }

  async function readFor(entry: Entry, sheetId: string, place: Logged): Promise<void> {
    const isWanted = () => entries.get(nameOf(sheetId, place)) === entry && !entry.page
    while (isWanted()) {
      const left = new AbortController()
      entry.stop = () => left.abort()
      // It waits before it reads: what is logged in between is not missed.
      const waited = following.waitFor(sheetId, place.seq, waitMs, left.signal)
      const read = await changes
        .after(sheetId, place, { ...everyChange, limit: readTogether })
        .catch(() => null)
      if (read === null) await new Promise<void>((resolve) => timers.after(tryAgainMs, resolve))
      else if (read.over) settle(entry, sheetId, place, { changes: [], next: place, end: read.over })
      else if (read.changes.length > 0) settleAll(entry, sheetId, place, read)
      else if ((await waited) === 'closing')
        settle(entry, sheetId, place, { changes: [], next: place, end: 'closing' })
      left.abort()
    }
  }

  /** More may have been read than one page holds: the others are there for those who come to them. */
  function settleAll(entry: Entry, sheetId: string, place: Logged, { changes, next }: ChangesRead): void {
    let from = place
    let [begun, characters] = [0, 0]
    const pages: [from: Logged, page: ChangePage][] = []
    for (const [at, change] of changes.entries()) {
      const { cursor } = change
      characters += charactersOf(change)
      const isLast = at === changes.length - 1
      if (characters < pageCharacters && !isLast) continue
      const to = isLast ? next : { epoch: place.epoch, seq: Number(cursor.slice(cursor.indexOf('-') + 1)) }
      pages.push([from, { changes: changes.slice(begun, at + 1), next: to, end: null }])
      from = to
      begun = at + 1
      characters = 0
    }
    for (const [at, page] of pages.slice(1)) {
      if (entries.has(nameOf(sheetId, at)) || isLong(page)) continue
      const entry = { page, takers: new Set<never>(), stop() {} }
      entries.set(nameOf(sheetId, at), entry)
      keep(nameOf(sheetId, at))
    }
    const [first] = pages
    if (first) settle(entry, sheetId, place, first[1])
  }

  function settle(entry: Entry, sheetId: string, place: Logged, page: ChangePage): void {
    const name = nameOf(sheetId, place)
    entry.page = page
    // An end is asked for anew each time.
    if (page.end !== null || isLong(page)) entries.delete(name)
    else keep(name)
    const { takers } = entry
    entry.takers = new Set()
    for (const take of takers) take(page)
  }

  function keep(name: string): void {
    kept.add(name)
    if (kept.size <= mostKept) return
    const [oldest = ''] = kept
    kept.delete(oldest)
    entries.delete(oldest)
  }
}

function isLong({ changes }: ChangePage): boolean {
  return changes.reduce((sum, change) => sum + charactersOf(change), 0) > mostKeptCharacters
}

function nameOf(sheetId: string, place: Logged): string {
  return `${sheetId} ${cursorText(place)}`
}
