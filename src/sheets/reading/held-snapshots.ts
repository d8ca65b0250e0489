import type { Observe } from '../../reporting/observe.ts'
import type { Soon } from '../../soon.ts'
import type { AccountPlace, FetchWish, Provider } from '../provider.ts'
import type { IndexedSnapshot, Snapshot } from '../rows/snapshot.ts'
import type { Logged } from '../sheet-log.ts'

/** What was read of a sheet, and what is known of that. */
export interface HeldSnapshot {
  snapshot: Snapshot
  /** What filters and sorts need; a promise until it is made. */
  indexed: Soon<IndexedSnapshot>
  version: string
  /** The sheet's `write_seq` when the fetch began: it may be served only while that has not moved. */
  writeSeq: number
  /** By the clock that never steps, as is `lastUsedMs`: how old a copy is must not change with the time of day. */
  checkedAtMs: number
  /** A time of day: it is told. */
  asOfMs: number
  lastUsedMs: number
  /** By the same clock, when it is to be read again although it is fresh; null while nobody has used it. */
  refreshAtMs: number | null
  /** Where it came from, to ask how tight things are there, and in whose share of the memory it is. */
  origin: { provider: Provider; providerName: string; place: AccountPlace }
  /** The provider has since refused access, or lost the sheet: not to be shown in its place any more. */
  isWithdrawn: boolean
  bodies: KeptBodies
  /** The place in the log that has exactly these rows, which may take a moment to be found; null where there is none. */
  logged: Soon<Logged | null>
  /** The place that they are about to have; null where nobody knows it yet, or it is there. */
  promised: Logged | null
}

/** What is held in memory, as far as its room is concerned. */
export type HeldRows = Pick<HeldSnapshot, 'snapshot' | 'indexed' | 'lastUsedMs' | 'bodies'> & {
  origin: { place: Pick<AccountPlace, 'accountId'> }
}

/** A sheet is held once for each way to read its cells. */
export function nameOf(sheetId: string, values: FetchWish['values']): string {
  return values === 'typed' ? sheetId : `${sheetId} ${values}`
}

/** Bodies that were made of a snapshot, so that each is made once. They live no longer than it does. */
export interface KeptBodies {
  readonly bytes: number
  get(name: string): readonly Uint8Array[] | undefined
  /** Counted in the memory for snapshots; not kept where there is no room. */
  keep(name: string, pieces: readonly Uint8Array[]): void
}

export interface HeldSnapshots<Held extends HeldRows = HeldSnapshot> {
  get(name: string): Held | undefined
  /**
   * Rows that are about to be read for an account take room before they are there: what must go for them goes first, and they
   * count until `end`.
   */
  expect(name: string, accountId: string, bytes: number): ExpectedRows
  hold(name: string, read: Held): void
  /** Its indexes are there, and count from now on. */
  addIndexes(name: string, read: Held, indexed: IndexedSnapshot): void
  /** False where another has taken its place. */
  drop(name: string, read: Held): boolean
  newBodies(): KeptBodies
}

export interface ExpectedRows {
  /** They are held now, or will not be. */
  end(): void
}

/** Bodies that are kept of one snapshot: a stranger with many queries must not drive out what everyone asks for. */
const maxBodies = 100

export interface HeldSnapshotsParts {
  /** For all of them, and what was made of them. */
  maxBytes: number
  /** Nobody who has more than this drives out what is held for one who has less. */
  maxAccountBytes: number
  observe: Observe
  /** Called when much was dropped: as long as nobody collects it, it is in memory beside what is held. */
  collectDropped(): void
  /** How much is much; a part of `maxBytes` unless told. */
  collectedFromBytes?: number
}

/** This part of all that may be held is dropped before memory is given back: to look for it costs a moment each time. */
const shareOfDropped = 1 / 4

/**
 * Snapshots in memory. Where there is no room, an account that holds more than its share loses what it has not used for
 * longest, with all that was made of it; where none does, whatever was longest unused goes.
 */
export function createHeldSnapshots<Held extends HeldRows = HeldSnapshot>({
  maxBytes,
  maxAccountBytes,
  observe,
  collectDropped,
  collectedFromBytes = maxBytes * shareOfDropped,
}: HeldSnapshotsParts): HeldSnapshots<Held> {
  const held = new Map<string, Held>()
  const expected = new Set<{ accountId: string; bytes: number }>()
  /** Those of the snapshots above; others are on their way in or out. */
  const counted = new Set<KeptBodies>()
  let snapshotBytes = 0
  let bodyBytes = 0
  let expectedBytes = 0
  /** Since something was given back. */
  let droppedBytes = 0

  return {
    get: (name) => held.get(name),
    expect(name, accountId, wantedBytes) {
      const rows = { accountId, bytes: Math.min(wantedBytes, maxBytes) }
      expected.add(rows)
      expectedBytes += rows.bytes
      if (isOver()) {
        makeRoom(name, accountId)
        report()
      }
      return {
        end() {
          if (expected.delete(rows)) expectedBytes -= rows.bytes
        },
      }
    },
    hold(name, read) {
      const former = drop(name)
      // Equal rows keep their snapshot.
      if (former && former.snapshot !== read.snapshot) noteDropped(former)
      held.set(name, read)
      snapshotBytes += bytesOf(read)
      counted.add(read.bodies)
      bodyBytes += read.bodies.bytes
      fitIn(name, read)
      report()
    },
    addIndexes(name, read, indexed) {
      const beforeBytes = bytesOf(read)
      read.indexed = indexed
      if (held.get(name) !== read) return
      snapshotBytes += bytesOf(read) - beforeBytes
      fitIn(name, read)
      report()
    },
    drop(name, read) {
      if (held.get(name) !== read) return false
      drop(name)
      noteDropped(read)
      report()
      return true
    },
    newBodies,
  }

  function newBodies(): KeptBodies {
    const kept = new Map<string, readonly Uint8Array[]>()
    let bytes = 0
    const bodies: KeptBodies = {
      get bytes() {
        return bytes
      },
      get(name) {
        const pieces = kept.get(name)
        if (pieces && kept.size > 1) {
          // A map keeps the order of insertion: what is used goes to its end.
          kept.delete(name)
          kept.set(name, pieces)
        }
        return pieces
      },
      keep(name, pieces) {
        if (kept.has(name)) return
        kept.set(name, pieces)
        count(sizeOf(pieces))
        for (const oldest of kept.keys()) {
          if (kept.size <= maxBodies) break
          remove(oldest)
        }
        if (!counted.has(bodies)) return
        if (isOver()) makeRoom(...ownerOf(bodies))
        if (isOver()) remove(name)
        report()
      },
    }
    return bodies

    function remove(name: string): void {
      count(-sizeOf(kept.get(name) ?? []))
      kept.delete(name)
    }

    function count(more: number): void {
      bytes += more
      if (counted.has(bodies)) bodyBytes += more
    }
  }

  function isOver(): boolean {
    return snapshotBytes + bodyBytes + expectedBytes > maxBytes
  }

  function ownerOf(bodies: KeptBodies): [name: string, accountId: string] {
    for (const [name, read] of held) if (read.bodies === bodies) return [name, accountOf(read)]
    return ['', '']
  }

  /** Whoever waits for it is served all the same. */
  function fitIn(name: string, read: Held): void {
    makeRoom(name, accountOf(read))
    // There are others, and none of them had to go: so its account has more than its share.
    if (isOver() && held.size > 1) dropForRoom(name, true)
  }

  /** As far as others must make room for this one. */
  function makeRoom(name: string, accountId: string): void {
    while (isOver()) {
      const bytesByAccount = bytesHeldByAccount()
      const isAbove = (its: string) => (bytesByAccount.get(its) ?? 0) > maxAccountBytes
      const others = [...held].filter(([other]) => other !== name)
      const above = others.filter(([, read]) => isAbove(accountOf(read)))
      const longest = longestUnused(above.length > 0 || isAbove(accountId) ? above : others)
      if (longest === undefined) return
      dropForRoom(longest, above.length > 0)
    }
  }

  function bytesHeldByAccount(): Map<string, number> {
    const byAccount = new Map<string, number>()
    const count = (accountId: string, bytes: number) =>
      byAccount.set(accountId, (byAccount.get(accountId) ?? 0) + bytes)
    for (const read of held.values()) count(accountOf(read), bytesOf(read) + read.bodies.bytes)
    for (const { accountId, bytes } of expected) count(accountId, bytes)
    return byAccount
  }

  function dropForRoom(name: string, isAboveShare: boolean): void {
    const read = drop(name)
    if (!read) return
    observe({ event: 'snapshot_dropped', bytes: bytesOf(read) })
    if (isAboveShare)
      observe({ event: 'share_used_up', share: 'snapshot_percent', accountId: accountOf(read) })
    noteDropped(read)
  }

  function drop(name: string): Held | null {
    const former = held.get(name)
    if (!former) return null
    held.delete(name)
    snapshotBytes -= bytesOf(former)
    counted.delete(former.bodies)
    bodyBytes -= former.bodies.bytes
    return former
  }

  function noteDropped(read: Held): void {
    droppedBytes += bytesOf(read) + read.bodies.bytes
    if (droppedBytes < collectedFromBytes) return
    droppedBytes = 0
    collectDropped()
  }

  function report(): void {
    observe({ event: 'snapshots_held', sheets: held.size, bytes: snapshotBytes, bodyBytes })
  }
}

function longestUnused(reads: readonly [name: string, read: HeldRows][]): string | undefined {
  let longest: [name: string, read: HeldRows] | undefined
  for (const each of reads) if (!longest || each[1].lastUsedMs < longest[1].lastUsedMs) longest = each
  return longest?.[0]
}

function accountOf({ origin }: HeldRows): string {
  return origin.place.accountId
}

function bytesOf({ snapshot, indexed }: HeldRows): number {
  return (indexed instanceof Promise ? snapshot : indexed).sizeInBytes
}

function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
}
