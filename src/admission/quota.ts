import type { Clock } from '../clock.ts'
import type { Soon } from '../soon.ts'
import type { Store } from '../store/store.ts'
import { type BillingCycle, billingCycleAt } from './billing-cycle.ts'

/**
 * The month's allowance of an account. A request is reserved before its work and released unless it succeeds, so never
 * more than the quota is served. Reservations come from blocks that are charged in the store ahead: a read does not
 * write to the database each time, and a process that dies has charged at most the block it held.
 */
export interface Quota {
  /** At once while the block lasts. */
  reserve(account: QuotaAccount, limit: number): Soon<Reservation>
  /** Gives back what was charged ahead and not used. */
  close(): Promise<void>
}

export interface QuotaAccount {
  id: string
  /** Where its billing months are counted from. */
  anchorMs: number
  /** The time of day, by a clock that all instances share: they must agree on which month it is. */
  nowMs: number
}

export interface QuotaState {
  limit: number
  remaining: number
  resetAtMs: number
}

export interface Reservation {
  isAdmitted: boolean
  state: QuotaState
  /** The request did not succeed: it costs nothing. */
  release(): void
}

interface QuotaBlock {
  accountId: string
  cycle: BillingCycle
  /** Charged in the store for this cycle, by everyone, when last heard of. */
  charged: number
  /** How many of these this process holds and has not used. */
  unused: number
  /** The limit that they were charged under. */
  limit: number
  /** Whether anyone asked since the last look round. */
  isWarm: boolean
  renewal: Promise<void> | null
}

const largestBlock = 1_000
/** A block is at most this part of what is left, so that the last requests of a month are shared out one by one. */
const blockShare = 1 / 50
const idleReturnMs = 1_000

type QuotaStore = Pick<Store, 'chargeAhead' | 'refundCharge'>

export function createQuota(store: QuotaStore, clock: Clock): Quota {
  const blocks = new Map<string, QuotaBlock>()
  const lookRound = setInterval(() => void returnIdle(), idleReturnMs).unref()

  return {
    reserve(account, limit) {
      const block = blockOf(account)
      block.isWarm = true
      return block.unused > 0 && limit >= block.limit ? takeFrom(block, limit) : renewBlock(block, limit)
    },
    async close() {
      clearInterval(lookRound)
      await Promise.all([...blocks.values()].map(giveBackUnused))
    },
  }

  function takeFrom(block: QuotaBlock, limit: number): Reservation {
    const used = block.charged - block.unused
    // The limit may have been lowered since the block was charged.
    const isAdmitted = block.unused > 0 && used < limit
    if (isAdmitted) block.unused--
    const state = stateOf(block, limit)
    let isHeld = isAdmitted
    return {
      isAdmitted,
      state,
      release() {
        if (!isHeld) return
        isHeld = false
        block.unused++
        state.remaining++
      },
    }
  }

  async function renewBlock(block: QuotaBlock, limit: number): Promise<Reservation> {
    // Under a limit that was lowered, others may have used up everything since; only the store knows.
    if (limit < block.limit) await giveBackUnused(block)
    do {
      block.renewal ??= renew(block, limit)
      await block.renewal
      // Others who waited for the same renewal may have been quicker; then there may be another.
    } while (block.unused === 0 && block.charged < limit)
    return takeFrom(block, limit)
  }

  function blockOf({ id, anchorMs, nowMs }: QuotaAccount): QuotaBlock {
    const known = blocks.get(id)
    // Also when it has not begun: then the time had been set ahead, and is right again.
    if (known && nowMs >= known.cycle.startMs && nowMs < known.cycle.endMs) return known
    const cycle = billingCycleAt(anchorMs, nowMs)
    const fresh: QuotaBlock = {
      accountId: id,
      cycle,
      charged: 0,
      unused: 0,
      limit: 0,
      isWarm: true,
      renewal: null,
    }
    blocks.set(id, fresh)
    // The month is over: nobody will ask for the rest, but the count should be what was served.
    if (known) void giveBackUnused(known).catch(() => {})
    return fresh
  }

  async function renew(block: QuotaBlock, limit: number): Promise<void> {
    try {
      const left = Math.max(0, limit - block.charged)
      const wanted = Math.min(largestBlock, Math.max(1, Math.floor(left * blockShare)))
      const { granted, charged } = await store.chargeAhead(
        block.accountId,
        block.cycle.startMs,
        limit,
        wanted,
      )
      block.unused += granted
      block.charged = charged
      block.limit = limit
    } finally {
      block.renewal = null
    }
  }

  /** Another process may be out of reservations while this one holds some that nobody asks for. */
  async function returnIdle(): Promise<void> {
    for (const block of [...blocks.values()]) {
      if (!block.isWarm) {
        // By this machine's time: it only makes room.
        const isOver = clock.nowMs() >= block.cycle.endMs
        if (isOver && blocks.get(block.accountId) === block) blocks.delete(block.accountId)
        await giveBackUnused(block).catch(() => {})
      }
      block.isWarm = false
    }
  }

  async function giveBackUnused(block: QuotaBlock): Promise<void> {
    const { accountId, cycle, unused } = block
    if (unused === 0) return
    block.unused = 0
    block.charged -= unused
    await store.refundCharge(accountId, cycle.startMs, unused)
  }
}

function stateOf({ charged, unused, cycle }: QuotaBlock, limit: number): QuotaState {
  return { limit, remaining: Math.max(0, limit - charged + unused), resetAtMs: cycle.endMs }
}
