import type { Clock } from '../../clock.ts'
import type { Fetched, Provider, ReadingTurn, TabPlace } from '../../sheets/provider.ts'
import { noTurn } from '../../sheets/threads/no-turn.ts'
import { ownBuffer } from '../../sheets/threads/thread-jobs.ts'
import type { Timers } from '../../timers.ts'
import type { AccessTokens } from '../remote/access-tokens.ts'
import { createDeadline, type Deadline } from '../remote/deadline.ts'
import type { Budget } from '../remote/rations/budget.ts'
import { type CallLimits, callLimits } from '../remote/remote-calls.ts'
import type { GoogleCalls } from './client/google-call.ts'
import type { GoogleEndpoints } from './client/google-endpoints.ts'
import { RefusedByGoogle } from './client/google-errors.ts'
import { nobody } from './client/public-access.ts'
import { parseGoogleLocation } from './google-location.ts'
import type { AnswerRooms } from './read/answer-room.ts'
import { type Columns, columnsIn, columnsText, withColumns } from './read/column-ranges.ts'
import { type Comparison, tornRead } from './read/dates/compare-reads.ts'
import type { GridDecodeOptions } from './read/decode-grid.ts'
import { createEarlyTexts } from './read/early-texts.ts'
import type { GoogleComparing } from './read/google-comparing.ts'
import type { GoogleDecodeOptions } from './read/google-decode.ts'
import { boundsAfter, boundsFor, type GridSize, gridVersion, isWithin } from './read/grid-bounds.ts'
import { createTabReads, type GridRead, type ReadUnder, type TabRead } from './read/tab-reads.ts'

/** The half that reads; `google-writing.ts` is the other. */
export type GoogleReading = Required<Pick<Provider, 'fetch' | 'findInColumn' | 'isTight'>>

export interface GoogleProviderParts {
  calls: GoogleCalls
  endpoints: GoogleEndpoints
  comparing: GoogleComparing
  tokens: Pick<AccessTokens, 'subjectOf'>
  budget: Pick<Budget, 'isTight'>
  /**
   * Rations bound how often an account asks, not how many answers of many megabytes lie in memory. Whoever has a turn here
   * holds two at most, from the first byte until a thread takes them.
   */
  fetches: AnswerRooms
  clock: Clock
  timers: Timers
  limits?: CallLimits
}

/**
 * A small tab is read with its formats, which tell dates from numbers. Of a large one those would be too much, and
 * values alone do not tell: it is read with dates as numbers and once more with dates as shown. The second read is left
 * out while the first says that no value changed; but a format can change alone, so every so often it is made all the
 * same.
 */
const trustFormatsMs = 60_000
const maxRemembered = 10_000
/**
 * A version is `<hash of the values>.<hash of the texts>.<columns of the texts>`; without numbers there is nothing that could be
 * a date.
 */
const noTexts = '-'

type Fit = Comparison['fit']

/** What one fetch goes by. */
interface Under extends ReadUnder {
  /** At the threads. */
  turn: ReadingTurn
}

/** A read with dates as shown, under way. */
interface TextsRead {
  /** When it was asked for. */
  seenAtMs: number
  landed: Promise<TextsOfTab>
}

/** Columns without numbers have no dates, and need not come twice. */
interface TextsOfTab extends Pick<TabRead, 'body' | 'hash'> {
  columns: Columns
}

interface Pair {
  serial: TabRead
  texts: TextsOfTab
  dates: Uint32Array
}

export function createGoogleProvider({
  calls,
  endpoints,
  comparing,
  tokens,
  budget,
  fetches,
  clock,
  timers,
  limits = callLimits,
}: GoogleProviderParts): GoogleReading {
  /** When the texts of a version were last seen, by place. */
  const textsSeen = new Map<string, { version: string; atMs: number }>()
  const reads = createTabReads(calls, endpoints)

  return {
    async fetch(place, { values, knownVersion }, turn = noTurn) {
      const deadline = createDeadline(clock, timers, limits.readMs)
      const room = fetches.roomOf(place.taker ?? place.accountId)
      const fetchNow = values === 'typed' ? fetchTyped : fetchFormatted
      try {
        return await fetchNow(place, knownVersion, { deadline, room, turn })
      } finally {
        room.end()
        deadline.end()
      }
    },
    async findInColumn(place, { columnIndex, values, isMarked = false }, turn = noTurn) {
      const deadline = createDeadline(clock, timers, limits.readMs)
      const room = fetches.roomOf(place.accountId)
      try {
        const { body } = await reads.values(
          place,
          'serial',
          { deadline, room },
          {
            columns: [{ from: columnIndex, to: columnIndex + 1 }],
          },
        )
        await turn.begin(body.byteLength)
        return await comparing.find({ body: ownBuffer(body), values, isMarked }, turn)
      } catch (error) {
        if (error instanceof RefusedByGoogle && error.isAboutGrid) return null
        throw error
      } finally {
        room.end()
        deadline.end()
      }
    },
    isTight({ credentialId }) {
      const subject = credentialId === null ? nobody : tokens.subjectOf(credentialId)
      return subject !== null && budget.isTight(subject)
    },
  }

  async function fetchFormatted(
    place: TabPlace,
    knownVersion: string | null,
    under: Under,
  ): Promise<Fetched | 'unchanged'> {
    const { body, hash } = await reads.values(place, 'formatted', under)
    if (hash === knownVersion) return 'unchanged'
    await under.turn.begin(body.byteLength)
    return fetchedValues(body, hash, 'formatted')
  }

  async function fetchTyped(
    place: TabPlace,
    knownVersion: string | null,
    under: Under,
  ): Promise<Fetched | 'unchanged'> {
    const bounds = boundsAfter(knownVersion)
    if (!bounds) return fetchPair(place, knownVersion, under)
    const grid = await wholeGrid(place, bounds, under)
    if (!grid) return fetchPair(place, null, under)
    const version = gridVersion(grid.size, grid.hash)
    if (version === knownVersion) return 'unchanged'
    await under.turn.begin(grid.body.byteLength)
    return fetchedGrid(place, grid.body, version)
  }

  /** null where the tab is too large. */
  async function wholeGrid(place: TabPlace, bounds: GridSize, under: Under): Promise<GridRead | null> {
    const first = await reads.grid(place, bounds, under)
    if (!first || isWithin(first.size, bounds)) return first
    // Taller or wider than was thought, and still small.
    const itsBounds = boundsFor(first.size)
    const second = itsBounds && (await reads.grid(place, itsBounds, under))
    return second && isWithin(second.size, itsBounds) ? second : null
  }

  async function fetchPair(
    place: TabPlace,
    knownVersion: string | null,
    under: Under,
  ): Promise<Fetched | 'unchanged'> {
    // Whoever knows nothing yet needs both.
    const readEarly = (deadline: Deadline, columns: Columns) =>
      readTexts(place, { ...under, deadline }, columns)
    const early = knownVersion === null ? createEarlyTexts(under.deadline, readEarly) : null
    const serial = await reads.values(place, 'serial', under, { texts: early }).catch((error: unknown) => {
      early?.drop()
      throw error
    })
    const [knownValues, knownTexts, knownColumns] = knownVersion?.split('.') ?? []
    const isSame = serial.hash === knownValues
    if (!serial.hasNumber) {
      if (isSame) return 'unchanged'
      await under.turn.begin(serial.body.byteLength)
      return fetchedValues(serial.body, `${serial.hash}.${noTexts}`, 'typed')
    }
    if (isSame && knownVersion !== null && wasSeenLately(place, knownVersion)) return 'unchanged'
    const { seenAtMs, landed } =
      early?.begun() ?? readTexts(place, under, columnsIn(knownColumns) ?? serial.numberColumns)
    const texts = await landed
    if (isSame && knownVersion !== null && texts.hash === knownTexts) {
      remember(place, knownVersion, seenAtMs)
      return 'unchanged'
    }
    const pair = await fitting(place, serial, texts, under)
    const version = `${pair.serial.hash}.${pair.texts.hash}.${columnsText(pair.texts.columns)}`
    remember(place, version, seenAtMs)
    return fetchedValues(pair.serial.body, version, 'typed', pair.dates)
  }

  function readTexts(place: TabPlace, under: Under, columns: Columns): TextsRead {
    const landed = textsOf(place, under, columns)
    // Where the other read fails, nobody waits for this one.
    landed.catch(() => {})
    return { seenAtMs: clock.elapsedMs(), landed }
  }

  async function textsOf(place: TabPlace, under: Under, columns: Columns): Promise<TextsOfTab> {
    try {
      const { body, hash } = await reads.values(place, 'texts', under, { columns })
      return { body, hash, columns }
    } catch (error) {
      // Somebody deleted columns at the end of the tab.
      const isGone = columns !== 'all' && error instanceof RefusedByGoogle && error.isAboutGrid
      if (!isGone) throw error
      return textsOf(place, under, 'all')
    }
  }

  /**
   * Two reads of one moment. What is served are the values of one read; the other only says which of them are
   * dates, so a number that changed in between does no harm, but a row that moved would.
   */
  async function fitting(
    place: TabPlace,
    firstSerial: TabRead,
    firstTexts: TextsOfTab,
    under: Under,
  ): Promise<Pair> {
    const { turn } = under
    const first = await compareTwoReads(firstSerial, firstTexts)
    if (first.fit === 'exact') return first
    const serial = await readAgain()
    // Between two equal reads nothing can have changed: what looked doubtful was so all the time.
    if (first.fit === 'doubtful' && serial.hash === first.serial.hash) return first
    const second = await compareTwoReads(serial, first.texts)
    // By its numbers alone a row that moved cannot always be told from one that changed.
    if (second.fit === 'exact' || (second.fit === 'doubtful' && second.texts.columns === 'all')) return second
    const third = await compareTwoReads(second.serial, await readTextsAgain('all'))
    if (third.fit !== 'torn') return third
    throw tornRead()

    function readAgain(): Promise<TabRead> {
      turn.end()
      return reads.values(place, 'serial', under)
    }

    function readTextsAgain(columns: Columns): Promise<TextsOfTab> {
      turn.end()
      return textsOf(place, under, columns)
    }

    /** In the turn in which it is decoded: so accounts take turns here as well, and nobody waits twice. */
    async function compareTwoReads(serial: TabRead, texts: TextsOfTab): Promise<Pair & { fit: Fit }> {
      await turn.begin(serial.body.byteLength)
      // Not one date: most sheets have none, and comparing would cost more than reading.
      if (serial.hash === texts.hash) return { fit: 'exact', dates: new Uint32Array(), serial, texts }
      const pair = { serialBody: serial.body, shownBody: texts.body }
      const { fit, dates, uncovered, serialBody, shownBody } = await comparing.compare(pair, turn)
      const sameSerial = { ...serial, body: Buffer.from(serialBody.buffer) }
      if (uncovered.length === 0 || texts.columns === 'all') {
        return { fit, dates, serial: sameSerial, texts: { ...texts, body: Buffer.from(shownBody.buffer) } }
      }
      const more = withColumns(texts.columns, uncovered)
      // It was asked for already, and not told.
      const isInVain = columnsText(more) === columnsText(texts.columns)
      return compareTwoReads(sameSerial, await readTextsAgain(isInVain ? 'all' : more))
    }
  }

  function wasSeenLately(place: TabPlace, version: string): boolean {
    const seen = textsSeen.get(keyOf(place))
    return seen?.version === version && clock.elapsedMs() - seen.atMs < trustFormatsMs
  }

  function remember(place: TabPlace, version: string, atMs: number): void {
    const key = keyOf(place)
    textsSeen.delete(key)
    textsSeen.set(key, { version, atMs })
    const [oldest] = textsSeen.keys()
    if (textsSeen.size > maxRemembered && oldest !== undefined) textsSeen.delete(oldest)
  }
}

function keyOf({ location, credentialId }: TabPlace): string {
  return `${credentialId} ${location}`
}

function fetchedValues(
  bytes: Uint8Array,
  version: string,
  values: GoogleDecodeOptions['values'],
  dates: Uint32Array = new Uint32Array(),
): Fetched {
  const options: GoogleDecodeOptions = { values, dates }
  const module = new URL('./read/google-decode.ts', import.meta.url).href
  const listing = new URL('./read/list-values.ts', import.meta.url).href
  const lister = { module: listing, name: 'listGoogleValues' }
  return { bytes, version, decoder: { module, name: 'decodeGoogleValues', options, lister } }
}

function fetchedGrid({ location }: TabPlace, bytes: Uint8Array, version: string): Fetched {
  const options: GridDecodeOptions = { tabId: parseGoogleLocation(location).tabId }
  const module = new URL('./read/decode-grid.ts', import.meta.url).href
  return { bytes, version, decoder: { module, name: 'decodeGoogleGrid', options } }
}
