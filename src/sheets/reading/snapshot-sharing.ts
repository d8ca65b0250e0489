import { setTimeout as sleep } from 'node:timers/promises'
import type { SharedSnapshots } from '../../shared-state/shared-snapshots.ts'
import { fromBytes, type SharedRead, snapshotForm, toBytes } from '../rows/snapshot-bytes.ts'

/** One read at the provider for all instances. */
export interface SnapshotSharing {
  /** What another instance has read lately or is reading now; null when there is nothing to wait for: then it is ours to
   *  read, and `offer` or `giveUp` ends that. */
  find(wanted: WantedSnapshot): Promise<(SharedRead & { ageMs: number }) | null>
  /** Not waited for by whoever has read. */
  offer(wanted: WantedSnapshot, read: SharedRead, ageMs: number): void
  giveUp(wanted: WantedSnapshot): void
}

export interface WantedSnapshot {
  /** Names the sheet and the way to read its cells. */
  name: string
  writeSeq: number
  location: string
  credentialId: string | null
  /** As old as it may be to be taken from another. */
  maxAgeMs: number
  /** As old as it may be to be served. */
  keepMs: number
}

/** Whoever reads is waited for no longer; then the next one reads as well. */
const readForMs = 5_000
const askEveryMs = 25

export function createSnapshotSharing(shared: SharedSnapshots): SnapshotSharing {
  /** Reads that the others wait for. */
  const turns = new Map<string, string>()

  return {
    async find(wanted) {
      const { location, credentialId, maxAgeMs } = wanted
      const name = nameOf(wanted)
      try {
        for (;;) {
          const answer = await shared.ask(name, maxAgeMs, readForMs)
          if (answer === 'wait') {
            await sleep(askEveryMs)
            continue
          }
          if ('turn' in answer) {
            turns.set(name, answer.turn)
            return null
          }
          const read = await fromBytes(answer.copy)
          const isSamePlace = read.location === location && read.credentialId === credentialId
          return isSamePlace ? { ...read, ageMs: answer.ageMs } : null
        }
      } catch {
        // Redis is away, or what is there cannot be read: nothing that a reader would have to know.
        return null
      }
    },
    offer(wanted, read, ageMs) {
      void put(wanted, read, ageMs)
        .catch(() => {})
        .finally(() => end(wanted))
    },
    giveUp: (wanted) => end(wanted),
  }

  async function put(wanted: WantedSnapshot, read: SharedRead, ageMs: number): Promise<void> {
    const keepMs = wanted.keepMs - ageMs
    const bytes = keepMs > 0 ? await toBytes(read) : null
    if (bytes) await shared.put(nameOf(wanted), bytes, ageMs, keepMs)
  }

  function end(wanted: WantedSnapshot): void {
    const name = nameOf(wanted)
    const turn = turns.get(name)
    if (turn === undefined) return
    turns.delete(name)
    void shared.endTurn(name, turn).catch(() => {})
  }
}

/** Names a snapshot by the write that it contains: one that was read before cannot even be found. */
function nameOf({ name, writeSeq }: WantedSnapshot): string {
  return `${snapshotForm} ${name} ${writeSeq}`
}
