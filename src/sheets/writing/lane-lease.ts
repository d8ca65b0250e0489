import { StoreUnwritable } from '../../errors.ts'
import type { Lease } from '../../store/leases/leases.ts'
import type { Store } from '../../store/store.ts'
import type { Cancel, Timers } from '../../timers.ts'
import type { Persistence } from './persistence.ts'

/** One spreadsheet's lane among instances: whoever has the lease writes, the others wait for it. */
export interface LaneLease {
  /** What the journal is shown with each batch; null while it is not ours. */
  readonly current: Lease | null
  /**
   * At once while it is ours. Throws `Closing` when the server ends before that, and `StoreUnwritable` where the store takes
   * no writes: that may last, and those who wait should hear of it.
   */
  acquireLease(): Promise<void>
  /** After each batch: lets another instance go first when we had our share. */
  pass(): Promise<void>
  end(): Promise<void>
}

export interface LaneLeaseParts {
  store: Pick<Store, 'takeLease' | 'renewLease' | 'endLease' | 'ping'>
  persistence: Persistence
  timers: Timers
}

/** Short, because clients wait for the lane of an instance that died; a stale holder does no harm (provider fence). */
const leaseMs = 4_000
const renewEveryMs = 1_000
const askEveryMs = 25
/** Longer than two questions are apart, so that whoever waits is not passed over. */
const wantMs = 1_000
const batchesInARow = 4

export function createLaneLease(source: string, { store, persistence, timers }: LaneLeaseParts): LaneLease {
  let lease: Lease | null = null
  let batches = 0
  let cancelRenewal: Cancel = () => {}

  const ours: LaneLease = {
    get current() {
      return lease
    },
    async acquireLease() {
      while (lease === null) {
        const taken = await persistence.until(takeUnlessUnwritable)
        if (taken instanceof StoreUnwritable) throw taken
        lease = taken
        if (lease === null) await persistence.pause(askEveryMs)
        else scheduleRenewal(lease)
      }
    },
    async pass() {
      batches++
      if (batches >= batchesInARow) await ours.end()
    },
    async end() {
      cancelRenewal()
      batches = 0
      const former = lease
      lease = null
      // One that cannot be given back runs out.
      if (former) await store.endLease(former).catch(() => {})
    },
  }
  return ours

  async function takeUnlessUnwritable(): Promise<Lease | StoreUnwritable | null> {
    try {
      return await store.takeLease(`lane ${source}`, leaseMs, wantMs)
    } catch (error) {
      const problem = await store.ping().catch((reason: unknown) => reason)
      if (problem instanceof StoreUnwritable) return problem
      throw error
    }
  }

  function scheduleRenewal(held: Lease): void {
    cancelRenewal = timers.after(renewEveryMs, () => void renew(held))
  }

  async function renew(held: Lease): Promise<void> {
    // Where the store is away nobody else can take it either.
    const isOurs = await store.renewLease(held, leaseMs).catch(() => true)
    if (lease !== held) return
    if (isOurs) scheduleRenewal(held)
    else lease = null
  }
}
