import type { Observe } from '../observe.ts'
import type { Soon } from '../soon.ts'
import type { FetchWish, Place, Provider } from './provider.ts'
import type { IndexedSnapshot, Snapshot } from './snapshot.ts'

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
  /** Where it came from, to ask how tight things are there. */
  origin: { provider: Provider; providerName: string; place: Place }
  /** The provider has since refused access, or lost the sheet: not to be shown in its place any more. */
  isWithdrawn: boolean
  bodies: KeptBodies
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

export interface HeldSnapshots {
  get(name: string): HeldSnapshot | undefined
  hold(name: string, read: HeldSnapshot): void
  /** Its indexes are there, and count from now on. */
  addIndexes(name: string, read: HeldSnapshot, indexed: IndexedSnapshot): void
  /** False where another has taken its place. */
  drop(name: string, read: HeldSnapshot): boolean
  newBodies(): KeptBodies
}

/** Of one snapshot: a stranger with many queries must not drive out what everyone asks for. */
const maxBodies = 100

/** Snapshots in memory, up to so many bytes; the one that was longest unused goes first, with all that was made of it. */
export function createHeldSnapshots(maxBytes: number, observe: Observe): HeldSnapshots {
  const held = new Map<string, HeldSnapshot>()
  /** Those of the snapshots above; others are on their way in or out. */
  const counted = new Set<KeptBodies>()
  let snapshotBytes = 0
  let bodyBytes = 0

  return {
    get: (name) => held.get(name),
    hold(name, read) {
      drop(name)
      held.set(name, read)
      snapshotBytes += bytesOf(read)
      counted.add(read.bodies)
      bodyBytes += read.bodies.bytes
      makeRoom(name)
      report()
    },
    addIndexes(name, read, indexed) {
      const beforeBytes = bytesOf(read)
      read.indexed = indexed
      if (held.get(name) !== read) return
      snapshotBytes += bytesOf(read) - beforeBytes
      makeRoom(name)
      report()
    },
    drop(name, read) {
      if (held.get(name) !== read) return false
      drop(name)
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
        if (isOver()) makeRoom(ownerOf(bodies))
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
    return snapshotBytes + bodyBytes > maxBytes
  }

  function ownerOf(bodies: KeptBodies): string {
    for (const [name, read] of held) if (read.bodies === bodies) return name
    return ''
  }

  /** The one that is needed now stays, whatever its size. */
  function makeRoom(exceptName: string): void {
    while (isOver() && held.size > 1) {
      const [name, read] = longestUnused(exceptName)
      observe({ event: 'snapshot_dropped', bytes: bytesOf(read) })
      drop(name)
    }
  }

  function longestUnused(exceptName: string): [name: string, read: HeldSnapshot] {
    const others = [...held].filter(([name]) => name !== exceptName)
    return others.reduce((one, other) => (other[1].lastUsedMs < one[1].lastUsedMs ? other : one))
  }

  function drop(name: string): void {
    const former = held.get(name)
    if (!former) return
    held.delete(name)
    snapshotBytes -= bytesOf(former)
    counted.delete(former.bodies)
    bodyBytes -= former.bodies.bytes
  }

  function report(): void {
    observe({ event: 'snapshots_held', sheets: held.size, bytes: snapshotBytes, bodyBytes })
  }
}

function bytesOf({ snapshot, indexed }: HeldSnapshot): number {
  return (indexed instanceof Promise ? snapshot : indexed).sizeInBytes
}

function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
}
