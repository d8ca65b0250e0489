import type { Clock } from '../../clock.ts'
import type { Turn, Turnstile } from '../../shares/turnstile.ts'
import type { Fetched, Provider, ReadingTurn, TabPlace } from '../../sheets/provider.ts'
import type { Timers } from '../../timers.ts'
import type { AccessTokens } from '../remote/access-tokens.ts'
import { createDeadline, type Deadline } from '../remote/deadline.ts'
import type { Budget } from '../remote/rations/budget.ts'
import { type CallLimits, callLimits } from '../remote/remote-calls.ts'
import type { GoogleCalls } from './client/google-call.ts'
import type { GoogleEndpoints } from './client/google-endpoints.ts'
import { parseGoogleLocation } from './google-location.ts'
import { createInspection } from './inspection.ts'
import { tornRead } from './read/compare-reads.ts'
import { createEarlyTexts, type EarlyTexts } from './read/early-texts.ts'
import type { GoogleComparing } from './read/google-comparing.ts'
import type { GoogleDecodeOptions } from './read/google-decode.ts'

/** The half that reads; `google-writing.ts` is the other. */
export type GoogleReading = Required<Pick<Provider, 'fetch' | 'isTight'>>

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
  fetches: Pick<Turnstile, 'turnOf'>
  clock: Clock
  timers: Timers
  limits?: CallLimits
}

/**
 * Google cannot tell a date from a number in one read, so a tab is read with dates as numbers and once more with
 * dates as shown. The second read is left out while the first says that no value changed; but a format can change
 * alone, so every so often it is made all the same.
 */
const trustFormatsMs = 60_000
const maxRemembered = 10_000
/** A version is `<hash of the values>.<hash of the texts>`; without numbers there is nothing that could be a date. */
const noTexts = '-'

type Render = 'serial' | 'texts' | 'formatted'

const renderOptions: Record<Render, object> = {
  serial: { valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'SERIAL_NUMBER' },
  texts: { valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'FORMATTED_STRING' },
  formatted: { valueRenderOption: 'FORMATTED_VALUE' },
}

interface TabRead {
  body: Buffer<ArrayBuffer>
  hash: string
  hasNumber: boolean
}

/** What one fetch goes by. */
interface Under {
  deadline: Deadline
  /** For what comes from Google, in memory. */
  room: Turn
  /** At the threads that decode. */
  turn: ReadingTurn
}

/** A read with dates as shown, under way. */
interface TextsRead {
  /** When it was asked for. */
  seenAtMs: number
  landed: Promise<TabRead>
}

interface Pair {
  serial: TabRead
  texts: TabRead
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

  return {
    async fetch(place, { values, knownVersion }, turn = noTurn) {
      const deadline = createDeadline(clock, timers, limits.readMs)
      const room = fetches.turnOf(place.accountId)
      const fetchNow = values === 'typed' ? fetchTyped : fetchFormatted
      try {
        return await fetchNow(place, knownVersion, { deadline, room, turn })
      } finally {
        room.end()
        deadline.end()
      }
    },
    isTight({ credentialId }) {
      const subject = credentialId === null ? null : tokens.subjectOf(credentialId)
      return subject !== null && budget.isTight(subject)
    },
  }

  async function fetchFormatted(
    place: TabPlace,
    knownVersion: string | null,
    under: Under,
  ): Promise<Fetched | 'unchanged'> {
    const { body, hash } = await read(place, 'formatted', under)
    if (hash === knownVersion) return 'unchanged'
    await under.turn.begin(body.byteLength)
    return fetched(body, hash, 'formatted')
  }

  async function fetchTyped(
    place: TabPlace,
    knownVersion: string | null,
    under: Under,
  ): Promise<Fetched | 'unchanged'> {
    // Whoever knows nothing yet needs both.
    const readEarly = (deadline: Deadline) => readTexts(place, { ...under, deadline })
    const early = knownVersion === null ? createEarlyTexts(under.deadline, readEarly) : null
    const serial = await read(place, 'serial', under, early).catch((error: unknown) => {
      early?.drop()
      throw error
    })
    const [knownValues, knownTexts] = knownVersion?.split('.') ?? []
    const isSame = serial.hash === knownValues
    if (!serial.hasNumber) {
      if (isSame) return 'unchanged'
      await under.turn.begin(serial.body.byteLength)
      return fetched(serial.body, `${serial.hash}.${noTexts}`, 'typed')
    }
    if (isSame && knownVersion !== null && seenLately(place, knownVersion)) return 'unchanged'
    const { seenAtMs, landed } = early?.begun() ?? readTexts(place, under)
    const texts = await landed
    if (isSame && knownVersion !== null && texts.hash === knownTexts) {
      remember(place, knownVersion, seenAtMs)
      return 'unchanged'
    }
    const pair = await fitting(place, serial, texts, under)
    const version = `${pair.serial.hash}.${pair.texts.hash}`
    remember(place, version, seenAtMs)
    return fetched(pair.serial.body, version, 'typed', pair.dates)
  }

  function readTexts(place: TabPlace, under: Under): TextsRead {
    const landed = read(place, 'texts', under)
    // Where the other read fails, nobody waits for this one.
    landed.catch(() => {})
    return { seenAtMs: clock.elapsedMs(), landed }
  }

  /**
   * Two reads of one moment. What is served are the values of one read; the other only says which of them are
   * dates, so a number that changed in between does no harm, but a row that moved would.
   */
  async function fitting(
    place: TabPlace,
    firstSerial: TabRead,
    firstTexts: TabRead,
    under: Under,
  ): Promise<Pair> {
    const { turn } = under
    const first = await compared(firstSerial, firstTexts, turn)
    if (first.fit === 'exact') return first
    const serial = await readAgain('serial')
    // Between two equal reads nothing can have changed: what looked doubtful was so all the time.
    if (first.fit === 'doubtful' && serial.hash === first.serial.hash) return first
    const second = await compared(serial, first.texts, turn)
    if (second.fit !== 'torn') return second
    const third = await compared(second.serial, await readAgain('texts'), turn)
    if (third.fit !== 'torn') return third
    throw tornRead()

    function readAgain(render: Render): Promise<TabRead> {
      turn.end()
      return read(place, render, under)
    }
  }

  /** In the turn at the threads that decode: so accounts take turns here as well, and nobody waits twice. */
  async function compared(
    serial: TabRead,
    texts: TabRead,
    turn: ReadingTurn,
  ): Promise<Pair & { fit: string }> {
    await turn.begin(serial.body.byteLength)
    // Not one date: most sheets have none, and comparing would cost more than reading.
    if (serial.hash === texts.hash) return { fit: 'exact', dates: new Uint32Array(), serial, texts }
    const { fit, dates, serialBody, shownBody } = await comparing.compare({
      serialBody: serial.body,
      shownBody: texts.body,
    })
    return {
      fit,
      dates,
      serial: { ...serial, body: Buffer.from(serialBody.buffer) },
      texts: { ...texts, body: Buffer.from(shownBody.buffer) },
    }
  }

  async function read(
    { location, credentialId }: TabPlace,
    render: Render,
    { deadline, room }: Under,
    early?: EarlyTexts<TextsRead> | null,
  ): Promise<TabRead> {
    const { spreadsheetId, tabId } = parseGoogleLocation(location)
    let inspection = createInspection()
    const asked = {
      dataFilters: [{ gridRange: { sheetId: tabId } }],
      majorDimension: 'ROWS',
      ...renderOptions[render],
    }
    const body = await calls.callRead({
      credentialId,
      service: 'sheets',
      method: 'POST',
      // By the tab's id: its title may change at any time.
      url: `${endpoints.sheets}/${encodeURIComponent(spreadsheetId)}/values:batchGetByDataFilter?prettyPrint=false`,
      body: asked,
      // Not before: who waits for the ration holds nothing, and keeps nobody else from an answer.
      async compose() {
        // Nobody would give back what is taken for one that was dropped.
        if (!deadline.signal.aborted) await room.begin(deadline.leftMs())
        return asked
      },
      deadline,
      onBody() {
        early?.drop()
        inspection = createInspection(early?.begin)
        return inspection.inspectPiece
      },
    })
    return { body, ...inspection.found() }
  }

  function seenLately(place: TabPlace, version: string): boolean {
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

const noTurn: ReadingTurn = { async begin() {}, end() {} }

function keyOf({ location, credentialId }: TabPlace): string {
  return `${credentialId} ${location}`
}

function fetched(
  bytes: Uint8Array,
  version: string,
  values: GoogleDecodeOptions['values'],
  dates: Uint32Array = new Uint32Array(),
): Fetched {
  const options: GoogleDecodeOptions = { values, dates }
  const module = new URL('./read/google-decode.ts', import.meta.url).href
  return { bytes, version, decoder: { module, name: 'decodeGoogleValues', options } }
}
