import type { ServerResponse } from 'node:http'
import type { Observe } from '../reporting/observe.ts'
import type { ShareName } from '../shares/shares.ts'

/**
 * Long answers that are still being read. They are sent from the memory of their snapshot, or of what was compressed of it,
 * without a copy: any number of readers costs nothing more, but each holds on to it, also when newer rows have long taken its place.
 * So there is an end to what the slow readers of one account can keep in memory.
 */
export interface UnreadAnswers {
  begin(accountId: string, response: UnreadAnswer, holds: readonly ArrayBufferView[]): void
}

type UnreadAnswer = Pick<ServerResponse, 'once' | 'destroy' | 'destroyed'>

/** What one answer, or several alike, hold on to. */
interface Holding {
  buffers: ReadonlySet<ArrayBufferLike>
  bytes: number
}

interface Unread {
  response: UnreadAnswer
  holding: Holding
}

/** Buffers and how often each is held, and what they have together: kept up to date, because thousands may read one list. */
interface HeldBuffers {
  holders: Map<ArrayBufferLike, number>
  bytes: number
}

interface OfAccount {
  /** The oldest first. */
  answers: Set<Unread>
  /** By how many answers each is held. */
  holdings: Map<Holding, number>
  held: HeldBuffers
}

/** Shorter ones are hardly worth a list, and soon read. */
const shortBytes = 256 * 1024

export interface UnreadLimits {
  /** One account may hold so much, beside what its newest answer holds. */
  maxBytes: number
  /** All together may hold so much: beyond it, whoever holds most loses the oldest. The answer that begins is never cut. */
  maxTotalBytes: number
}

export function createUnreadAnswers(
  { maxBytes, maxTotalBytes }: UnreadLimits,
  observe: Observe,
): UnreadAnswers {
  const accounts = new Map<string, OfAccount>()
  const heldByAll: HeldBuffers = { holders: new Map(), bytes: 0 }
  /** What is kept and sent to many is the same list of pieces each time. */
  const known = new WeakMap<readonly ArrayBufferView[], Holding>()

  return {
    begin(accountId, response, holds) {
      if (response.destroyed || isShort(holds)) return
      const holding = holdingOf(holds)
      if (holding.bytes < shortBytes) return
      const unread = { response, holding }
      const account = accounts.get(accountId) ?? newAccount()
      accounts.set(accountId, account)
      account.answers.add(unread)
      const count = account.holdings.get(holding) ?? 0
      account.holdings.set(holding, count + 1)
      if (count === 0) for (const held of [account.held, heldByAll]) hold(held, holding)
      response.once('close', () => letGo(accountId, account, unread))
      if (account.answers.size > 1) cutOldest(accountId, account, holding)
      while (heldByAll.bytes > maxTotalBytes && cutLargest(unread));
    },
  }

  function holdingOf(holds: readonly ArrayBufferView[]): Holding {
    const found = known.get(holds)
    if (found) return found
    const buffers = new Set(holds.map(({ buffer }) => buffer))
    const holding = { buffers, bytes: sizeOf(buffers) }
    known.set(holds, holding)
    return holding
  }

  function letGo(accountId: string, account: OfAccount, unread: Unread): void {
    if (!account.answers.delete(unread)) return
    if (account.answers.size === 0) accounts.delete(accountId)
    const { holding } = unread
    const count = account.holdings.get(holding) ?? 0
    if (count > 1) account.holdings.set(holding, count - 1)
    else if (account.holdings.delete(holding))
      for (const held of [account.held, heldByAll]) release(held, holding)
  }

  function cut(accountId: string, account: OfAccount, unread: Unread, share: ShareName): void {
    letGo(accountId, account, unread)
    unread.response.destroy()
    observe({ event: 'share_used_up', share, accountId })
  }

  /** Who has several loses the oldest of them before anybody loses the only one. False when nothing is left to cut. */
  function cutLargest(newest: Unread): boolean {
    let largest: { accountId: string; account: OfAccount; bytes: number; isOnly: boolean } | null = null
    for (const [accountId, account] of accounts) {
      const isOnly = account.answers.size === 1
      if (isOnly && account.answers.has(newest)) continue
      const { bytes } = account.held
      const isLarger = !largest || (isOnly === largest.isOnly ? bytes > largest.bytes : !isOnly)
      if (isLarger) largest = { accountId, account, bytes, isOnly }
    }
    const [oldest] = largest?.account.answers ?? []
    if (!largest || !oldest || oldest === newest) return false
    cut(largest.accountId, largest.account, oldest, 'unread_total_percent')
    return true
  }

  function cutOldest(accountId: string, account: OfAccount, newest: Holding): void {
    for (const unread of account.answers) {
      if (account.held.bytes - newest.bytes <= maxBytes) return
      if (unread.holding === newest || unread.holding.buffers.isSubsetOf(newest.buffers)) continue
      cut(accountId, account, unread, 'unread_percent')
    }
  }
}

function newAccount(): OfAccount {
  return { answers: new Set(), holdings: new Map(), held: { holders: new Map(), bytes: 0 } }
}

function hold(held: HeldBuffers, { buffers }: Holding): void {
  for (const buffer of buffers) {
    const count = held.holders.get(buffer) ?? 0
    held.holders.set(buffer, count + 1)
    if (count === 0) held.bytes += buffer.byteLength
  }
}

function release(held: HeldBuffers, { buffers }: Holding): void {
  for (const buffer of buffers) {
    const count = held.holders.get(buffer) ?? 0
    if (count > 1) held.holders.set(buffer, count - 1)
    else if (held.holders.delete(buffer)) held.bytes -= buffer.byteLength
  }
}

/** Nearly all are: nothing is made or kept for them. */
function isShort(holds: readonly ArrayBufferView[]): boolean {
  let bytes = 0
  for (const { buffer } of holds) bytes += buffer.byteLength
  return bytes < shortBytes
}

function sizeOf(buffers: ReadonlySet<ArrayBufferLike>): number {
  let bytes = 0
  for (const { byteLength } of buffers) bytes += byteLength
  return bytes
}
