import type { Clock } from '../clock.ts'
import type { Observe, RowsFrom } from '../observe.ts'
import type { Soon } from '../soon.ts'
import type { SheetFacts, SheetRecord, Store } from '../store/store.ts'
import { createBackgroundRefresh } from './background-refresh.ts'
import type { Decoding } from './decoding.ts'
import { isFresh, mayAwaitItsTurn, reasonToOutlast } from './freshness.ts'
import { createHeldSnapshots, type HeldSnapshot, type KeptBodies } from './held-snapshots.ts'
import type { Fetched, FetchWish, Provider } from './provider.ts'
import { ProviderFailure } from './provider-failure.ts'
import type { Snapshot } from './snapshot.ts'
import type { SnapshotSharing, Wanted } from './snapshot-sharing.ts'
import { createStandingFailures } from './standing-failures.ts'
import type { Column } from './table.ts'

/** Reads sheets from memory where that is as good as asking, else from their provider, once for all who wait. */
export interface Reading {
  /** At once when memory has it. */
  read(sheet: SheetFacts, wish: ReadingWish): Soon<ReadSheet>
  /** Like a read that asks for now, with the version that a write can be conditional on. */
  readForWriting(sheet: SheetAtSeq): Promise<HeldSnapshot>
  /** All that additions need, where the provider offers it for less than the whole tab; else null. */
  readHeader(sheet: SheetAtSeq): Promise<{ columns: Column[]; version: string } | null>
}

/** A sheet, and the last write to it that whoever asks knows of. */
export type SheetAtSeq = Pick<SheetFacts, 'id' | 'writeSeq'>

export interface ReadingWish {
  values: Values
  /** The client sent `Cache-Control: no-cache`. */
  mustAskProvider: boolean
}

type Values = FetchWish['values']

export interface ReadSheet {
  snapshot: Snapshot
  /** When the rows were first seen like this. */
  asOfMs: number
  /** Seconds since the provider was last asked. */
  ageSeconds: number
  source: RowsFrom
  /** What was made of this snapshot and may be kept with it. */
  bodies: KeptBodies
}

interface Flight {
  /** Settles like the fetch does. */
  landed: Promise<HeldSnapshot>
  /** Grows while the fetch has not begun: what it will read contains every write up to this one. */
  writeSeq: number
  /** Someone waits who may ask again soon after a failure. */
  isUrgent: boolean
  /** Someone waits who wants it from the provider, as of now. */
  mustBeginNow: boolean
  next: Flight | null
}

export interface ReadingParts {
  store: Pick<Store, 'sheetById'>
  providers: ReadonlyMap<string, Provider>
  decoding: Decoding
  clock: Clock
  observe: Observe
  maxHeldBytes: number
  /** Where several instances read the same sheets. */
  sharing?: SnapshotSharing | null
}

export function createReading({
  store,
  providers,
  decoding,
  clock,
  observe,
  maxHeldBytes,
  sharing = null,
}: ReadingParts): Reading {
  const held = createHeldSnapshots(maxHeldBytes, observe)
  const failures = createStandingFailures()
  const background = createBackgroundRefresh()
  const flights = new Map<string, Flight>()

  return {
    read(sheet, wish) {
      const name = nameOf(sheet.id, wish.values)
      const known = held.get(name)
      if (known && !wish.mustAskProvider) {
        const nowMs = clock.nowMs()
        known.lastUsedMs = nowMs
        if (isFresh(known, sheet, nowMs)) return answer(known, 'hit', nowMs)
        if (mayAwaitItsTurn(known, sheet, nowMs) && isTight(known)) {
          refreshInTurn(sheet, wish.values, known)
          return answer(known, 'rationed', nowMs)
        }
      }
      return refreshed(sheet, wish, known ? 'stale' : 'miss')
    },
    readForWriting: (sheet) => ask(sheet, 'typed', { mustBeginNow: true, isUrgent: true }),
    async readHeader({ id }) {
      const { record, provider } = await connected(id)
      if (!provider.fetchHeader) return null
      try {
        const fetched = await provider.fetchHeader(record)
        if (!fetched) return null
        const { snapshot, version } = await loaded(fetched, 'typed')
        return { columns: snapshot.columns, version }
      } catch (error) {
        if (error instanceof ProviderFailure) reportFailure(error, record)
        throw error
      }
    },
  }

  async function refreshed(
    sheet: SheetFacts,
    { values, mustAskProvider }: ReadingWish,
    source: 'miss' | 'stale',
  ): Promise<ReadSheet> {
    try {
      const mustBeginNow = mustAskProvider || sheet.cacheSeconds === 0
      const read = await ask(sheet, values, { mustBeginNow, isUrgent: mustAskProvider })
      return answer(read, source, clock.nowMs())
    } catch (error) {
      const copy = held.get(nameOf(sheet.id, values))
      // Whoever insists on now would rather hear that it cannot be had.
      if (!copy || mustAskProvider) throw error
      const nowMs = clock.nowMs()
      const reason = reasonToOutlast(error, copy, sheet, { isTight: isTight(copy), nowMs })
      if (reason === null) throw error
      return answer(copy, reason, nowMs)
    }
  }

  function answer(known: HeldSnapshot, source: RowsFrom, nowMs: number): ReadSheet {
    const { snapshot, asOfMs, checkedAtMs, bodies } = known
    const ageSeconds = Math.max(0, Math.floor((nowMs - checkedAtMs) / 1_000))
    return { snapshot, asOfMs, ageSeconds, source, bodies }
  }

  function refreshInTurn(sheet: SheetFacts, values: Values, { checkedAtMs, origin }: HeldSnapshot): void {
    const name = nameOf(sheet.id, values)
    const group = origin.place.credentialId ?? name
    const refresh = () => ask(sheet, values, { mustBeginNow: false, isUrgent: false })
    background.ask({ name, group, checkedAtMs, refresh })
  }

  /**
   * Joins the fetch under way, or, when that one may have begun before what this reader must see, the single one
   * that follows it.
   */
  function ask(
    sheet: SheetAtSeq,
    values: Values,
    { mustBeginNow, isUrgent }: { mustBeginNow: boolean; isUrgent: boolean },
  ): Promise<HeldSnapshot> {
    const running = flights.get(nameOf(sheet.id, values))
    if (!running) return begin(sheet, values, { mustBeginNow, isUrgent }, null).landed
    if (!mustBeginNow && running.writeSeq === sheet.writeSeq) return running.landed
    running.next ??= begin(sheet, values, { mustBeginNow, isUrgent }, running.landed)
    running.next.writeSeq = Math.max(running.next.writeSeq, sheet.writeSeq)
    running.next.isUrgent ||= isUrgent
    running.next.mustBeginNow ||= mustBeginNow
    return running.next.landed
  }

  function begin(
    { id, writeSeq }: SheetAtSeq,
    values: Values,
    how: Pick<Flight, 'mustBeginNow' | 'isUrgent'>,
    after: Promise<unknown> | null,
  ): Flight {
    const name = nameOf(id, values)
    const flight: Flight = { landed: Promise.resolve() as never, writeSeq, ...how, next: null }
    flight.landed = fly()
    return flight

    async function fly(): Promise<HeldSnapshot> {
      if (after) await after.catch(() => {})
      flights.set(name, flight)
      try {
        const failure = failures.standing(name, flight, clock.nowMs())
        if (failure) throw failure.error
        return await fetchNow(id, values, flight)
      } finally {
        if (!flight.next) flights.delete(name)
      }
    }
  }

  async function fetchNow(sheetId: string, values: Values, flight: Flight): Promise<HeldSnapshot> {
    const { writeSeq } = flight
    const { record, provider } = await connected(sheetId)
    const name = nameOf(sheetId, values)
    try {
      const read = await obtain(provider, record, values, flight)
      failures.forget(name)
      held.hold(name, read)
      return read
    } catch (error) {
      failures.note(name, writeSeq, error, clock.nowMs())
      if (error instanceof ProviderFailure) reportFailure(error, record)
      throw error
    }
  }

  async function connected(sheetId: string): Promise<{ record: SheetRecord; provider: Provider }> {
    const record = await store.sheetById(sheetId)
    const provider = record && providers.get(record.provider)
    if (!record || !provider) throw new ProviderFailure('the sheet is not connected any more')
    return { record, provider }
  }

  /** One read at the provider for all instances, where reads there are rationed; a file is quickly looked at. */
  async function obtain(
    provider: Provider,
    record: SheetRecord,
    values: Values,
    { writeSeq, mustBeginNow }: Flight,
  ): Promise<HeldSnapshot> {
    const { id, location, credentialId, cacheSeconds } = record
    const maxAgeMs = cacheSeconds * 1_000
    if (!sharing || !provider.isTight || maxAgeMs === 0) return fetchFrom(provider, record, values, writeSeq)
    const wanted: Wanted = { name: `${id} ${values}`, writeSeq, location, credentialId, maxAgeMs }
    const found = mustBeginNow ? null : await sharing.find(wanted)
    if (found) {
      const { snapshot, version, asOfMs, ageMs } = found
      const checkedAtMs = clock.nowMs() - ageMs
      return toHold({ snapshot, version, asOfMs, checkedAtMs, writeSeq }, provider, record, values)
    }
    try {
      const read = await fetchFrom(provider, record, values, writeSeq)
      const { snapshot, version, asOfMs, checkedAtMs } = read
      const ageMs = clock.nowMs() - checkedAtMs
      sharing.offer(wanted, { snapshot, version, asOfMs, location, credentialId }, ageMs)
      return read
    } catch (error) {
      sharing.giveUp(wanted)
      throw error
    }
  }

  async function fetchFrom(
    provider: Provider,
    record: SheetRecord,
    values: Values,
    writeSeq: number,
  ): Promise<HeldSnapshot> {
    const begunAtMs = clock.nowMs()
    const begunMs = clock.elapsedMs()
    const known = held.get(nameOf(record.id, values))
    const fetched = await provider.fetch(record, { values, knownVersion: known?.version ?? null })
    const { snapshot, version } = fetched === 'unchanged' ? unchanged(known) : await loaded(fetched, values)
    observe({
      event: 'sheet_fetched',
      sheetId: record.id,
      provider: record.provider,
      outcome: fetched === 'unchanged' ? 'unchanged' : 'loaded',
      rows: snapshot.rowNumbers.length,
      bytes: snapshot.listJson.byteLength,
      durationMs: clock.elapsedMs() - begunMs,
    })
    const read = { snapshot, version, asOfMs: begunAtMs, checkedAtMs: begunAtMs, writeSeq }
    return toHold(read, provider, record, values)
  }

  /** Equal rows keep their snapshot and its `as_of`, so a poller's ETag and bytes hold while nothing changes. */
  function toHold(
    read: Pick<HeldSnapshot, 'snapshot' | 'version' | 'asOfMs' | 'checkedAtMs' | 'writeSeq'>,
    provider: Provider,
    { id, location, credentialId }: SheetRecord,
    values: Values,
  ): HeldSnapshot {
    const known = held.get(nameOf(id, values))
    const same = known?.snapshot.contentHash === read.snapshot.contentHash ? known : null
    return {
      ...read,
      snapshot: same && isSamePlaces(same.snapshot, read.snapshot) ? same.snapshot : read.snapshot,
      asOfMs: same?.asOfMs ?? read.asOfMs,
      lastUsedMs: clock.nowMs(),
      origin: { provider, place: { location, credentialId } },
      isWithdrawn: false,
      bodies: same?.bodies ?? held.newBodies(),
    }
  }

  async function loaded(fetched: Fetched, values: Values) {
    return { snapshot: await decoding.decode(fetched, values), version: fetched.version }
  }

  function reportFailure(failure: ProviderFailure, record: SheetRecord): void {
    const { id: sheetId, provider } = record
    const { message: reason, cause } = failure
    observe({ event: 'provider_failed', sheetId, provider, action: 'read', reason, cause })
    if (failure.facts.isPassing === true) return
    for (const values of ['typed', 'formatted'] as const) {
      const copy = held.get(nameOf(sheetId, values))
      if (copy) copy.isWithdrawn = true
    }
  }
}

/** A sheet is held once for each way to read its cells. */
function nameOf(sheetId: string, values: Values): string {
  return values === 'typed' ? sheetId : `${sheetId} ${values}`
}

function isTight({ origin: { provider, place } }: HeldSnapshot): boolean {
  return provider.isTight?.(place) === true
}

/** What reads alike may still lie elsewhere: a column without a header was put in between, or data below in one. */
function isSamePlaces(one: Snapshot, other: Snapshot): boolean {
  return (
    one.lastRowNumber === other.lastRowNumber &&
    one.columns.every(({ index }, at) => other.columns[at]?.index === index)
  )
}

function unchanged(known: HeldSnapshot | undefined): HeldSnapshot {
  if (!known) throw new Error('A provider said "unchanged" to someone who knew nothing')
  return known
}
