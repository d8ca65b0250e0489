import type { Clock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import { visitorsOf } from '../../shares/taker.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import type { Store } from '../../store/store.ts'
import type {
  Fetched,
  FetchedRows,
  FetchWish,
  FoundInColumn,
  Provider,
  ReadingTurn,
  RowsAndColumn,
  WantedInColumn,
  WantedInTall,
  WantedRows,
  WrittenTab,
} from '../provider.ts'
import { ProviderFailure } from '../provider-failure.ts'
import { buildSnapshot } from '../rows/build-snapshot.ts'
import type { Snapshot } from '../rows/snapshot.ts'
import { type Column, servedColumnsOf } from '../rows/table.ts'
import { type KnownRows, type Logged, type LookBegun, noLog, type SheetLog } from '../sheet-log.ts'
import type { Decoded, Decoding } from './decoding.ts'
import type { WishUnderWay } from './flights.ts'
import { type ExpectedRows, type HeldSnapshot, type HeldSnapshots, nameOf } from './held-snapshots.ts'
import type { SnapshotSharing, WantedSnapshot } from './snapshot-sharing.ts'

type Values = FetchWish['values']

/** Brings snapshots into memory, from the provider or from another instance that has just been there. */
export interface Fetching {
  fetch(sheetId: string, values: Values, wish: WishUnderWay): Promise<HeldSnapshot>
  /** Waits for the indexes of what was fetched. Why it had to be dropped without them, or null. */
  settleIndexes(sheetId: string, values: Values, read: HeldSnapshot): Promise<{ error: unknown } | null>
  /** All that additions need, where the provider offers it for less than the whole tab; else null. */
  fetchHeader(sheetId: string): Promise<{ columns: Column[]; version: string } | null>
  /** All that changes of these rows need, on the same terms. */
  fetchRows(sheetId: string, wanted: readonly WantedRows[]): Promise<FetchedRows | null>
  /** Where values are in a column, on the same terms. */
  findInColumn(sheetId: string, wanted: WantedInColumn): Promise<FoundInColumn | null>
  /** Both in one read, on the same terms. */
  fetchRowsAndColumn(
    sheetId: string,
    rows: readonly WantedRows[],
    inColumn: WantedInTall,
  ): Promise<RowsAndColumn | 'too_large' | null>
  /** A small tab as a write has left it, as good as a fetch that began at that time under that `writeSeq`. */
  takeWritten(record: SheetRecord, tab: WrittenTab, at: WrittenAt): void
}

export interface WrittenAt {
  /** That of the write itself. */
  writeSeq: number
  /** The last change that the log has of it; null where there is no log. */
  loggedSeq: number | null
  /** Before it was sent, by the clock that never steps, and as a time of day. */
  begunMs: number
  asOfMs: number
}

export interface FetchingParts {
  store: Pick<Store, 'sheetById'>
  providers: ReadonlyMap<string, Provider>
  decoding: Decoding
  clock: Clock
  observe: Observe
  held: HeldSnapshots
  /** Where several instances read the same sheets. */
  sharing: SnapshotSharing | null
  /** Where it is kept what became of rows; absent = nowhere. */
  log?: SheetLog
}

/** As JSON, with the header in each row, a CSV file has so many times its length, give or take; a workbook more. */
const rowsOfBytes = 4

type ReadRows = Decoded &
  Pick<HeldSnapshot, 'asOfMs' | 'checkedAtMs' | 'writeSeq' | 'logged'> & { promised?: Logged | null }

export function createFetching(parts: FetchingParts): Fetching {
  const { store, providers, decoding, clock, observe, held, sharing, log = noLog } = parts

  return {
    async fetch(sheetId, values, wish) {
      const { record, provider } = await findSource(sheetId)
      const read = await reporting(record, () =>
        whereItIs(record, (at) => obtain(provider, at, values, wish)),
      )
      held.hold(nameOf(sheetId, values), read)
      return read
    },
    async settleIndexes(sheetId, values, read) {
      if (!(read.indexed instanceof Promise)) return null
      const name = nameOf(sheetId, values)
      try {
        held.addIndexes(name, read, await read.indexed)
        return null
      } catch (error) {
        if (!held.drop(name, read)) return null
        const provider = read.origin.providerName
        if (error instanceof ProviderFailure) reportFailure(error, { id: sheetId, provider })
        return { error }
      }
    },
    async fetchHeader(sheetId) {
      const { record, provider } = await findSource(sheetId)
      const { fetchHeader, knownHeader } = provider
      if (!fetchHeader) return null
      const known = knownHeader && (await reporting(record, () => knownHeader(record)))
      if (known) return { columns: servedColumnsOf({ rows: [[...known.header]] }), version: known.version }
      const header = await reporting(record, () =>
        decoding.decode(record.accountId, (turn) => fetchHeader(record, turn)),
      )
      return header && { columns: header.snapshot.columns, version: header.version }
    },
    async fetchRows(sheetId, wanted) {
      const { record, provider } = await findSource(sheetId)
      const { fetchRows } = provider
      return fetchRows ? reporting(record, () => fetchRows(record, wanted)) : null
    },
    async findInColumn(sheetId, wanted) {
      const { record, provider } = await findSource(sheetId)
      const { findInColumn } = provider
      if (!findInColumn) return null
      return reporting(record, () =>
        decoding.inTurn(record.accountId, (turn) => findInColumn(record, wanted, turn)),
      )
    },
    async fetchRowsAndColumn(sheetId, rows, inColumn) {
      const { record, provider } = await findSource(sheetId)
      const { fetchRowsAndColumn } = provider
      if (!fetchRowsAndColumn) return null
      return reporting(record, () =>
        decoding.inTurn(record.accountId, (turn) => fetchRowsAndColumn(record, rows, inColumn, turn)),
      )
    },
    takeWritten(record, { version, grid }, { writeSeq, loggedSeq, begunMs, asOfMs }) {
      const provider = providers.get(record.provider)
      if (!provider) return
      const snapshot = buildSnapshot(grid)
      const name = nameOf(record.id, 'typed')
      const before = held.get(name)
      const logged = logAfterReading(record, snapshot, before, (begun) => ({
        ...begun,
        mayLog: begun.seq === loggedSeq && begun.writeSeq === writeSeq,
      }))
      const rows = { snapshot, indexed: snapshot, version, asOfMs, checkedAtMs: begunMs, writeSeq, logged }
      const read = toHold(rows, provider, record, 'typed')
      // Nobody has read it yet.
      if (before) read.lastUsedMs = before.lastUsedMs
      held.hold(name, read)
      const keepMs = record.cacheSeconds * 1_000
      if (!sharing || keepMs === 0) return
      const { id, location, credentialId } = record
      const wanted = { name: `${id} typed`, writeSeq, location, credentialId, maxAgeMs: keepMs, keepMs }
      void offer(sharing, wanted, read)
    },
  }

  /** Nobody waits for it but those who want the place in the log. */
  async function logAfterReading(
    record: SheetRecord,
    snapshot: Snapshot,
    before: HeldSnapshot | undefined,
    judge: (begun: LookBegun) => LookBegun,
  ): Promise<Logged | null> {
    const begun = await log.beforeLook(record).catch(() => null)
    return begun && log.afterLook(judge(begun), record, snapshot, await knownRows(before))
  }

  /** What fails is told to whoever watches, and thrown on. */
  async function reporting<T>(record: SheetRecord, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ProviderFailure) reportFailure(error, record)
      throw error
    }
  }

  async function findSource(sheetId: string): Promise<{ record: SheetRecord; provider: Provider }> {
    const record = await store.sheetById(sheetId)
    const provider = record && providers.get(record.provider)
    if (!record || !provider) throw new ProviderFailure('the sheet is no longer connected')
    return { record, provider }
  }

  /** A file may be renamed after its place was looked up: then it is not missing, but elsewhere. */
  async function whereItIs<T>(record: SheetRecord, read: (at: SheetRecord) => Promise<T>): Promise<T> {
    try {
      return await read(record)
    } catch (error) {
      const now = error instanceof ProviderFailure ? await store.sheetById(record.id) : null
      if (!now || now.location === record.location) throw error
      return read(now)
    }
  }

  /** One read at the provider for all instances, where reads there are rationed; a file is quickly looked at. */
  async function obtain(
    provider: Provider,
    record: SheetRecord,
    values: Values,
    wish: WishUnderWay,
  ): Promise<HeldSnapshot> {
    const { writeSeq, mustBeginNow, isAhead } = wish
    const { id, location, credentialId, cacheSeconds } = record
    const keepMs = cacheSeconds * 1_000
    if (!sharing || !provider.isTight || keepMs === 0) return fetchFrom(provider, record, values, wish)
    // What is refreshed ahead of its end is still good, and would be found again: it must be one that another read since.
    const maxAgeMs = isAhead ? keepMs / 2 : keepMs
    const place = { location, credentialId }
    const wanted: WantedSnapshot = { name: `${id} ${values}`, writeSeq, ...place, maxAgeMs, keepMs }
    const found = mustBeginNow ? null : await sharing.find(wanted)
    if (found) {
      const { snapshot, version, asOfMs, ageMs } = found
      const checkedAtMs = clock.elapsedMs() - ageMs
      const known = held.get(nameOf(id, values))
      // How old it is beside what is logged, nobody knows.
      const logged =
        values === 'typed'
          ? logAfterReading(record, snapshot, known, (begun) => ({ ...begun, mayLog: false }))
          : null
      const read = { snapshot, indexed: snapshot, version, asOfMs, checkedAtMs, writeSeq, logged }
      return toHold(read, provider, record, values)
    }
    try {
      const read = await fetchFrom(provider, record, values, wish)
      void offer(sharing, wanted, read)
      return read
    } catch (error) {
      sharing.giveUp(wanted)
      throw error
    }
  }

  async function offer(to: SnapshotSharing, wanted: WantedSnapshot, read: HeldSnapshot): Promise<void> {
    const { version, asOfMs, checkedAtMs } = read
    const { location, credentialId } = wanted
    try {
      const snapshot = await read.indexed
      const ageMs = clock.elapsedMs() - checkedAtMs
      to.offer(wanted, { snapshot, version, asOfMs, location, credentialId }, ageMs)
    } catch {
      to.giveUp(wanted)
    }
  }

  async function fetchFrom(
    provider: Provider,
    record: SheetRecord,
    values: Values,
    wish: WishUnderWay,
  ): Promise<HeldSnapshot> {
    const { writeSeq } = wish
    const { accountId } = record
    // Somebody with a key may come to wait for what was begun for visitors.
    const now = () => (wish.isForVisitors ? visitorsOf(accountId) : accountId)
    const taker = { now, changed: wish.joinedByKeys }
    const begunMs = clock.elapsedMs()
    const asOfMs = clock.nowMs()
    const begun = values === 'typed' ? await log.beforeLook(record) : null
    const name = nameOf(record.id, values)
    // Let go of while it waits for its turn: rows that others need the room of would stay in memory for those who wait.
    let known = held.get(name)
    const decoded = await expecting(record, values, (expectRows) =>
      decoding.decode(taker, fetchInto(expectRows), { values }),
    )
    const isUnchanged = decoded === 'unchanged'
    const { snapshot, indexed, version } = isUnchanged ? mustBeKnown(known) : decoded
    observe({
      event: 'sheet_fetched',
      sheetId: record.id,
      provider: record.provider,
      outcome: isUnchanged ? 'unchanged' : 'loaded',
      rows: snapshot.rowNumbers.length,
      bytes: snapshot.listJson.byteLength,
      durationMs: clock.elapsedMs() - begunMs,
    })
    const before = known ?? held.get(name)
    let promised: Logged | null = null
    const logged =
      begun &&
      log.afterLook(begun, record, snapshot, await knownRows(before), (place) => {
        promised = place
      })
    const read = { snapshot, indexed, version, asOfMs, checkedAtMs: begunMs, writeSeq, logged, promised }
    return toHold(read, provider, record, values)

    /** What is taken from a disk is expected when its turn has come, before it is in memory. */
    function fetchInto(expectRows: (ofBytes: number) => void) {
      return async (turn: ReadingTurn): Promise<Fetched | 'unchanged'> => {
        const begin = async (bytes: number) => {
          known = undefined
          await turn.begin(bytes)
          known = held.get(name)
          expectRows(bytes)
        }
        const fetchSince = (knownVersion: string | null) =>
          provider.fetch({ ...record, taker }, { values, knownVersion }, { ...turn, begin })
        // The same bytes make other rows where the sheet is now read in another way.
        const isSamePlace = known?.origin.place.location === record.location
        const knownVersion = isSamePlace ? (known?.version ?? null) : null
        let fetched = await fetchSince(knownVersion)
        // What is as it was may be gone by then.
        if (fetched === 'unchanged' && known?.version !== knownVersion) fetched = await fetchSince(null)
        if (fetched === 'unchanged') return fetched
        known = undefined
        expectRows(fetched.bytes.byteLength)
        return fetched
      }
    }
  }

  async function expecting<T>(
    { id, accountId }: SheetRecord,
    values: Values,
    work: (expectRows: (ofBytes: number) => void) => Promise<T>,
  ): Promise<T> {
    let expected: ExpectedRows = { end() {} }
    try {
      return await work((ofBytes) => {
        expected.end()
        expected = held.expect(nameOf(id, values), accountId, ofBytes * rowsOfBytes)
      })
    } finally {
      expected.end()
    }
  }

  /** Equal rows keep their snapshot and its `as_of`, so a poller's ETag and bytes hold while nothing changes. */
  function toHold(
    read: ReadRows,
    provider: Provider,
    { id, accountId, provider: providerName, location, credentialId }: SheetRecord,
    values: Values,
  ): HeldSnapshot {
    const known = held.get(nameOf(id, values))
    const same = known?.snapshot.contentHash === read.snapshot.contentHash ? known : null
    const { snapshot, indexed } = same && isSamePlaces(same.snapshot, read.snapshot) ? same : read
    const holding: HeldSnapshot = {
      ...read,
      promised: read.promised ?? null,
      snapshot,
      indexed,
      asOfMs: same?.asOfMs ?? read.asOfMs,
      lastUsedMs: clock.elapsedMs(),
      refreshAtMs: null,
      origin: { provider, providerName, place: { accountId, location, credentialId } },
      isWithdrawn: false,
      bodies: same?.bodies ?? held.newBodies(),
    }
    // Readers need not wait for what is known; where there is none, each looks whether there is one by now.
    if (read.logged instanceof Promise)
      read.logged.then(
        (place) => {
          holding.logged = place ?? holding.logged
          holding.promised = null
        },
        () => {},
      )
    return holding
  }

  function reportFailure(
    failure: ProviderFailure,
    { id: sheetId, provider }: Pick<SheetRecord, 'id' | 'provider'>,
  ): void {
    const { message: reason, cause } = failure
    observe({ event: 'provider_failed', sheetId, provider, action: 'read', reason, cause })
    if (failure.facts.isPassing === true) return
    for (const values of ['typed', 'formatted'] as const) {
      const copy = held.get(nameOf(sheetId, values))
      if (copy) copy.isWithdrawn = true
    }
  }
}

/** Rows with their place in the log, where they have one. */
export async function knownRows(read: HeldSnapshot | undefined): Promise<KnownRows | null> {
  const logged = await read?.logged
  return read && logged ? { snapshot: read.snapshot, logged } : null
}

/** What reads alike may still lie elsewhere: a column without a header was put in between, or data below in one. */
function isSamePlaces(one: Snapshot, other: Snapshot): boolean {
  return (
    one.lastRowNumber === other.lastRowNumber &&
    one.columns.every(({ index }, at) => other.columns[at]?.index === index)
  )
}

function mustBeKnown(known: HeldSnapshot | undefined): HeldSnapshot {
  if (!known) throw new Error('A provider said "unchanged" to someone who knew nothing')
  return known
}
