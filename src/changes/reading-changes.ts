import { StoreFailure } from '../errors.ts'
import type { LoopTurns } from '../shares/loop-turns.ts'
import { accountOf, type Taker } from '../shares/taker.ts'
import type { Turnstile } from '../shares/turnstile.ts'
import type { LoggedChange } from '../sheets/logged-change.ts'
import type { Logged } from '../sheets/sheet-log.ts'
import type { Soon } from '../soon.ts'
import { type ChangeChunk, type LogPosition, lengthOfEntries } from '../store/changes/change-log.ts'
import type { Store } from '../store/store.ts'
import { cursorText } from './cursor.ts'
import type { Following } from './following.ts'
import { createLongChunks } from './long-chunks.ts'
import { charactersOf, type ReadChange } from './read-change.ts'
import { nullIfGone, type ReadEntries, readShort } from './read-entries.ts'

/** Reads the log of a sheet, for whoever may. */
export interface ReadingChanges {
  /** Where the log stands; null where none is kept. In whose turn: the sheet's own where nobody is named. */
  positionOf(sheetId: string, taker?: Taker): Promise<LogPosition | null>
  /** What comes after a place, as much as was asked for. The place is one of this log and still kept. */
  after(sheetId: string, place: Logged, wish: ChangesWish): Promise<ChangesRead>
  /** Waits, where there is nothing yet, until there is something or `waitMs` are over. */
  await(sheetId: string, place: Logged, wish: ChangesWish, wait: ChangesWait): Promise<ChangesRead>
}

export interface ChangesWish {
  limit: number
  /** Equal for all who choose alike; null for one whose pages nobody else is likely to ask for, or who keeps them. */
  filterName: string | null
  matches(change: LoggedChange): boolean
  /** In whose turn they are read; in the sheet's own where many share them. */
  taker?: Taker
}

export interface ChangesWait {
  waitMs: number
  left: AbortSignal
}

export interface ChangesRead {
  changes: ToldChange[]
  /** Where to go on: also what does not match is behind it. */
  next: Logged
  /** Whether there is more already. */
  hasMore: boolean
  /** Why nothing comes after it: the log no longer reaches back to the place, or is another one now, or none is kept. */
  over?: 'expired' | 'no_log'
}

export interface ToldChange extends ReadChange {
  cursor: string
  atMs: number
}

/** For whoever goes through all of them. */
export const everyChange = { filterName: null, matches: () => true } as const

/** What one page has at most, but for a single change that is longer; and what is looked through for it. Some milliseconds. */
const pageCharacters = 256 * 1024
/** Others may forget what is read. */
const mostTries = 10
/** Pages that were read lately: whoever is woken by a change, or asks again and again, is told the same as others. */
const mostKept = 16

export interface ReadingChangesParts {
  store: Pick<Store, 'changeLogOf' | 'loggedChanges'>
  following: Pick<Following, 'waitFor'>
  clock: { elapsedMs(): number }
  turns: LoopTurns
  /** A page is read from the store and put together in one turn: what waits for its turn holds nothing of it. */
  logReads: Pick<Turnstile, 'pass'>
}

interface KeptPage {
  read: ChangesRead
  characters: number
  /** Where the log stood: a page that reached its end has more by now, where that is elsewhere. */
  head: number
  /** It went on to there, and was cut because of what is long in bytes, not in characters. */
  cutAt: number | null
}

export function createReadingChanges({
  store,
  following,
  clock,
  turns,
  logReads,
}: ReadingChangesParts): ReadingChanges {
  const kept = new Map<string, KeptPage>()
  const longChunks = createLongChunks()

  return {
    positionOf: (sheetId, taker = sheetId) => logReads.pass(taker, () => store.changeLogOf(sheetId)),
    after,
    async await(sheetId, place, wish, { waitMs, left }) {
      const endMs = clock.elapsedMs() + waitMs
      for (let [from, isOver] = [place, false]; ; ) {
        const read = await after(sheetId, from, wish)
        const leftMs = endMs - clock.elapsedMs()
        if (read.changes.length > 0 || read.over || isOver || leftMs <= 0) return read
        from = read.next
        if (read.hasMore) continue
        isOver = (await following.waitFor(sheetId, from.seq, leftMs, left)) !== 'woken'
      }
    },
  }

  async function after(
    sheetId: string,
    place: Logged,
    wish: ChangesWish,
    triesLeft = mostTries,
  ): Promise<ChangesRead> {
    await turns.next(wish.taker ?? sheetId)
    const { limit, filterName } = wish
    const name = filterName === null ? null : `${sheetId} ${cursorText(place)} ${limit} ${filterName}`
    const { known, read, position } = await logReads.pass(wish.taker ?? sheetId, async () => {
      const known = name === null ? undefined : kept.get(name)
      const read = known ? null : await nullIfGone(readAfter(sheetId, place, wish))
      // Asked afterwards: what was forgotten before the chunks were read is known by now.
      return { known, read, position: await store.changeLogOf(sheetId) }
    })
    const over = reasonWhyOver(position, place)
    if (over) return { changes: [], next: place, hasMore: false, over }
    if (read && read.cutAt !== null && position) read.read.hasMore ||= position.head > read.cutAt
    if (read) return name === null ? read.read : keep(name, read)
    if (known && (known.read.hasMore || known.head === position?.head)) return known.read
    if (name !== null) kept.delete(name)
    if (triesLeft === 0) throw new StoreFailure('Changes of a log are named, and never there')
    return after(sheetId, place, wish, triesLeft - 1)
  }

  async function readAfter(
    sheetId: string,
    place: Logged,
    { limit, matches, taker = sheetId }: ChangesWish,
  ): Promise<KeptPage> {
    const chunks = await store.loggedChanges(sheetId, place.seq, pageCharacters)
    const changes: ToldChange[] = []
    const head = chunks.at(-1)?.lastSeq ?? place.seq
    let seq = place.seq
    let characters = 0
    let lookedThroughCharacters = 0
    for (const chunk of chunks) {
      // Of a store elsewhere, what many have asked for may come in the same moment.
      await turns.next(taker)
      const its = await entriesOf(sheetId, place.epoch, chunk, taker)
      lookedThroughCharacters += its.characters
      for (const [nth, read] of its.changes.entries()) {
        const itsSeq = chunk.firstSeq + nth
        if (itsSeq <= place.seq) continue
        const isWanted = matches(read.change)
        if (isWanted) characters += charactersOf(read)
        const isFull = changes.length === limit || (changes.length > 0 && characters > pageCharacters)
        if (isFull) return pageUpTo(true, null)
        seq = itsSeq
        const cursor = cursorText({ epoch: place.epoch, seq })
        if (isWanted) changes.push({ cursor, atMs: chunk.atMs, ...read })
      }
    }
    const bytes = chunks.reduce((sum, chunk) => sum + lengthOfEntries(chunk), 0)
    const hasMore = lookedThroughCharacters >= pageCharacters
    return pageUpTo(hasMore, bytes >= pageCharacters ? head : null)

    function pageUpTo(hasMore: boolean, cutAt: number | null): KeptPage {
      return { read: { changes, next: { epoch: place.epoch, seq }, hasMore }, characters, head, cutAt }
    }
  }

  function entriesOf(
    sheetId: string,
    epoch: string,
    { firstSeq, entries }: ChangeChunk,
    taker: Taker,
  ): Soon<ReadEntries> {
    if (typeof entries === 'string') return readShort(entries)
    const name = `${sheetId} ${cursorText({ epoch, seq: firstSeq })} ${entries.bytes}`
    return longChunks.read(name, entries, accountOf(taker), () => turns.next(taker))
  }

  function keep(name: string, page: KeptPage): ChangesRead {
    // Nothing is soon read again, and costs nothing; a long change would cost memory for as long as nobody reads others.
    if (page.read.changes.length === 0 || page.characters > 2 * pageCharacters) return page.read
    kept.delete(name)
    kept.set(name, page)
    const [oldest] = kept.size > mostKept ? kept.keys() : []
    if (oldest !== undefined) kept.delete(oldest)
    return page.read
  }
}

function reasonWhyOver(position: LogPosition | null, place: Logged): ChangesRead['over'] {
  if (!position) return 'no_log'
  return position.epoch === place.epoch && position.floor <= place.seq ? undefined : 'expired'
}
