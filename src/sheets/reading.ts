import type { Clock } from '../clock.ts'
import type { Observe } from '../observe.ts'
import type { Soon } from '../soon.ts'
import type { SheetFacts, Store } from '../store/store.ts'
import type { Decoding } from './decoding.ts'
import type { Fetched, Provider } from './provider.ts'
import { ProviderFailure } from './provider-failure.ts'
import type { Snapshot } from './snapshot.ts'

/** Reads sheets from memory where that is as good as asking, else from their provider, once for all who wait. */
export interface Reading {
  /** At once when memory has it. */
  read(sheet: SheetFacts, wish: ReadWish): Soon<ReadSheet>
  /** Like a read that asks for now, with the version that a write can be conditional on. */
  readForWriting(sheet: SheetFacts): Promise<HeldSnapshot>
}

export interface ReadWish {
  /** The client sent `Cache-Control: no-cache`. */
  mustAskProvider: boolean
}

export interface ReadSheet {
  snapshot: Snapshot
  /** When the rows were first seen like this. */
  asOfMs: number
  /** Seconds since the provider was last asked. */
  ageSeconds: number
  source: 'hit' | 'miss' | 'stale'
}

export interface HeldSnapshot {
  snapshot: Snapshot
  version: string
  /** The sheet's `write_seq` when the fetch began: it may be served only while that has not moved. */
  writeSeq: number
  checkedAtMs: number
  asOfMs: number
  lastUsedMs: number
}

interface Flight {
  /** Settles like the fetch does. */
  landed: Promise<HeldSnapshot>
  /** Grows while the fetch has not begun: what it will read contains every write up to this one. */
  writeSeq: number
  next: Flight | null
}

export interface ReadingParts {
  store: Pick<Store, 'sheetById'>
  providers: ReadonlyMap<string, Provider>
  decoding: Decoding
  clock: Clock
  observe: Observe
  maxHeldBytes: number
}

export function createReading({
  store,
  providers,
  decoding,
  clock,
  observe,
  maxHeldBytes,
}: ReadingParts): Reading {
  const held = new Map<string, HeldSnapshot>()
  let heldBytes = 0
  const flights = new Map<string, Flight>()

  return {
    read(sheet, { mustAskProvider }) {
      const known = held.get(sheet.id)
      const nowMs = clock.nowMs()
      if (known && !mustAskProvider && isFresh(known, sheet, nowMs)) {
        known.lastUsedMs = nowMs
        return answer(known, 'hit', nowMs)
      }
      const source = known ? 'stale' : 'miss'
      return ask(sheet, mustAskProvider || sheet.cacheSeconds === 0).then((read) =>
        answer(read, source, clock.nowMs()),
      )
    },
    readForWriting: (sheet) => ask(sheet, true),
  }

  function isFresh(known: HeldSnapshot, sheet: SheetFacts, nowMs: number): boolean {
    return known.writeSeq === sheet.writeSeq && nowMs - known.checkedAtMs < sheet.cacheSeconds * 1_000
  }

  function answer(known: HeldSnapshot, source: ReadSheet['source'], nowMs: number): ReadSheet {
    const { snapshot, asOfMs, checkedAtMs } = known
    return { snapshot, asOfMs, ageSeconds: Math.max(0, Math.floor((nowMs - checkedAtMs) / 1_000)), source }
  }

  /**
   * Joins the fetch under way, or, when that one may have begun before what this reader must see, the single one
   * that follows it.
   */
  function ask(sheet: SheetFacts, mustBeginNow: boolean): Promise<HeldSnapshot> {
    const running = flights.get(sheet.id)
    if (!running) return begin(sheet, null).landed
    if (!mustBeginNow && running.writeSeq === sheet.writeSeq) return running.landed
    running.next ??= begin(sheet, running.landed)
    running.next.writeSeq = Math.max(running.next.writeSeq, sheet.writeSeq)
    return running.next.landed
  }

  function begin(sheet: SheetFacts, after: Promise<unknown> | null): Flight {
    const flight: Flight = { landed: Promise.resolve() as never, writeSeq: sheet.writeSeq, next: null }
    flight.landed = fly()
    return flight

    async function fly(): Promise<HeldSnapshot> {
      if (after) await after.catch(() => {})
      flights.set(sheet.id, flight)
      try {
        return await fetchNow(sheet.id, flight.writeSeq)
      } finally {
        if (!flight.next) flights.delete(sheet.id)
      }
    }
  }

  async function fetchNow(sheetId: string, writeSeq: number): Promise<HeldSnapshot> {
    const begunAtMs = clock.nowMs()
    const begunMs = clock.elapsedMs()
    const record = await store.sheetById(sheetId)
    const provider = record && providers.get(record.provider)
    if (!record || !provider) throw new ProviderFailure('the sheet is not connected any more')
    const known = held.get(sheetId)
    try {
      const fetched = await provider.fetch(record.location, known?.version ?? null)
      const { snapshot, version } = fetched === 'unchanged' ? unchanged(known) : await loaded(fetched)
      // Equal rows keep their snapshot and its `as_of`, so a poller's ETag and bytes hold while nothing changes.
      const same = known?.snapshot.contentHash === snapshot.contentHash ? known : null
      const read: HeldSnapshot = {
        snapshot: same && isSamePlaces(same.snapshot, snapshot) ? same.snapshot : snapshot,
        version,
        writeSeq,
        checkedAtMs: begunAtMs,
        asOfMs: same?.asOfMs ?? begunAtMs,
        lastUsedMs: begunAtMs,
      }
      hold(sheetId, read)
      observe({
        event: 'sheet_fetched',
        sheetId,
        provider: record.provider,
        outcome: fetched === 'unchanged' ? 'unchanged' : 'loaded',
        rows: snapshot.rowNumbers.length,
        bytes: snapshot.listJson.byteLength,
        durationMs: clock.elapsedMs() - begunMs,
      })
      return read
    } catch (error) {
      if (error instanceof ProviderFailure) {
        const { message: reason, cause } = error
        observe({
          event: 'provider_failed',
          sheetId,
          provider: record.provider,
          action: 'read',
          reason,
          cause,
        })
      }
      throw error
    }
  }

  async function loaded(fetched: Fetched) {
    return { snapshot: await decoding.decode(fetched), version: fetched.version }
  }

  function hold(sheetId: string, read: HeldSnapshot): void {
    forget(sheetId)
    held.set(sheetId, read)
    heldBytes += sizeOf(read)
    while (heldBytes > maxHeldBytes && held.size > 1) forget(longestUnused(sheetId))
    observe({ event: 'snapshots_held', sheets: held.size, bytes: heldBytes })
  }

  function longestUnused(exceptSheetId: string): string {
    const others = [...held].filter(([sheetId]) => sheetId !== exceptSheetId)
    return others.reduce((one, other) => (other[1].lastUsedMs < one[1].lastUsedMs ? other : one))[0]
  }

  function forget(sheetId: string): void {
    const former = held.get(sheetId)
    if (!former) return
    held.delete(sheetId)
    heldBytes -= sizeOf(former)
  }
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

function sizeOf({ snapshot }: HeldSnapshot): number {
  return snapshot.listJson.byteLength + snapshot.rowStarts.byteLength + snapshot.rowNumbers.byteLength
}
