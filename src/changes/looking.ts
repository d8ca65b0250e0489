import type { Clock } from '../clock.ts'
import type { Reading, SheetAtSeq } from '../sheets/reading/reading.ts'
import type { Store } from '../store/store.ts'
import { idleTimers, pause, type Timers } from '../timers.ts'
import type { Following } from './following.ts'

/**
 * Looks at spreadsheets by itself, so that what people do in them is logged though nobody reads (docs/decisions/033). A spreadsheet beyond
 * a network is looked at by one instance, in turns that the store gives out; a file by each that has somebody who follows it, since that
 * costs nothing.
 */
export interface Looking {
  /** Looks now, once for all who ask in the same moment. 'queued' where the provider's ration is scarce: it is looked at in its turn. */
  refresh(sheet: SheetAtSeq): Promise<'looked' | 'queued'>
  close(): void
}

export interface LookingParts {
  store: Pick<Store, 'noteFollowed' | 'takeDueLooks' | 'sheetById'>
  reading: Pick<Reading, 'look'>
  following: Pick<Following, 'followed'>
  /** Whether a look costs something of what a provider allows. */
  isRationed(provider: string): boolean
  clock: Pick<Clock, 'elapsedMs'>
  timers?: Timers
}

const tickMs = 1_000
/** While somebody follows. */
const followedEveryMs = 15_000
const noteEveryMs = 5_000
/** Longer than it takes a client to come back. */
const followedForMs = 20_000
const looksAtOnce = 8
/** The others of an account have their turn the next time. */
const looksOfAccountAtOnce = 3
/** Between two looks that clients asked for. */
const refreshEveryMs = 1_000

export function createLooking(parts: LookingParts): Looking {
  const { store, reading, following, isRationed, clock, timers = idleTimers } = parts
  const closing = new AbortController()
  /** When it was last said that they are followed. */
  const notedMs = new Map<string, number>()
  const files = new Set<string>()
  const looking = new Map<string, string | null>()
  const refreshes = new Map<string, { sheet: SheetAtSeq; outcome: Promise<'looked' | 'queued'> }>()
  const refreshedMs = new Map<string, number>()
  let cancel = timers.after(tickMs, tick)

  return {
    refresh(sheet) {
      const known = refreshes.get(sheet.id)
      if (known) {
        if (sheet.writeSeq > known.sheet.writeSeq) known.sheet = sheet
        return known.outcome
      }
      const entry = { sheet, outcome: inItsTime(sheet.id) }
      refreshes.set(sheet.id, entry)
      return entry.outcome
    },
    close() {
      closing.abort()
      cancel()
    },
  }

  async function inItsTime(sheetId: string): Promise<'looked' | 'queued'> {
    const waitMs = (refreshedMs.get(sheetId) ?? Number.NEGATIVE_INFINITY) + refreshEveryMs - clock.elapsedMs()
    if (waitMs > 0) await pause(timers, waitMs, closing.signal)
    else await null
    // Whoever comes from now on may know of an edit that this look misses.
    const sheet = refreshes.get(sheetId)?.sheet
    refreshes.delete(sheetId)
    refreshedMs.set(sheetId, clock.elapsedMs())
    timers.after(refreshEveryMs, () => refreshedMs.delete(sheetId))
    if (!sheet) throw new Error('A look was asked for at no sheet')
    return reading.look(sheet)
  }

  /** What cannot be done now is done the next time. */
  function tick(): void {
    void lookRound()
      .catch(() => {})
      .then(() => {
        if (!closing.signal.aborted) cancel = timers.after(tickMs, tick)
      })
  }

  async function lookRound(): Promise<void> {
    const followed = following.followed()
    for (const sheetId of followed) if (files.has(sheetId)) void look(sheetId, null)
    const nowMs = clock.elapsedMs()
    const toNote = followed.filter(
      (id) => nowMs - (notedMs.get(id) ?? Number.NEGATIVE_INFINITY) >= noteEveryMs,
    )
    for (const [sheetId, atMs] of notedMs) {
      if (nowMs - atMs < followedForMs) continue
      notedMs.delete(sheetId)
      files.delete(sheetId)
    }
    if (toNote.length > 0) {
      await findFiles(toNote.filter((id) => !notedMs.has(id)))
      await store.noteFollowed(toNote, followedForMs)
      for (const sheetId of toNote) notedMs.set(sheetId, nowMs)
    }
    if (looking.size >= looksAtOnce) return
    for (const { sheetId, accountId } of await store.takeDueLooks(
      looksAtOnce - looking.size,
      followedEveryMs,
    )) {
      const ofAccount = [...looking.values()].filter((id) => id === accountId).length
      if (ofAccount < looksOfAccountAtOnce) void look(sheetId, accountId)
    }
  }

  /** A file costs nothing to look at: whoever begins to follow one need not wait for the turn that the store gives out. */
  async function findFiles(begun: readonly string[]): Promise<void> {
    for (const sheetId of begun) {
      const sheet = await store.sheetById(sheetId)
      if (sheet && !isRationed(sheet.provider)) files.add(sheetId)
    }
  }

  /** As a reader would; what fails is a reader's to hear. */
  async function look(sheetId: string, accountId: string | null): Promise<void> {
    if (looking.has(sheetId)) return
    looking.set(sheetId, accountId)
    try {
      const sheet = await store.sheetById(sheetId)
      if (!sheet || sheet.paused || sheet.historyDays === 0) return
      await reading.look(sheet)
    } catch {
    } finally {
      looking.delete(sheetId)
    }
  }
}
