import type { ServerResponse } from 'node:http'
import type { Observe } from '../reporting/observe.ts'
import type { ShareName } from '../shares/shares.ts'
import { accountOf, areVisitors, type Taker } from '../shares/taker.ts'

/**
 * Long answers that are still being read. They are sent from the memory of their snapshot, or of what was compressed of it,
 * without a copy: any number of readers costs nothing more, but each holds on to it, also when newer rows have long taken its place.
 * So there is an end to what the slow readers of one account can keep in memory. Visitors among them lose theirs before anybody with a
 * key does, and nobody with one, of whatever account, loses any for them.
 */
export interface UnreadAnswers {
  begin(taker: Taker, response: UnreadAnswer, holds: readonly ArrayBufferView[]): void
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
  isVisitors: boolean
}

/** Buffers and how often each is held, and what they have together: kept up to date, because thousands may read one list. */
interface HeldBuffers {
  holders: Map<ArrayBufferLike, number>
  bytes: number
}

interface OfAccount {
  /** The oldest first. */
  answers: Set<Unread>
  /** Those of visitors among them, the oldest first. */
  answersOfVisitors: Set<Unread>
  /** By how many answers each is held. */
  holdings: Map<Holding, number>
  held: HeldBuffers
}

/** Shorter ones are hardly worth a list, and soon read. */
const shortBytes = 256 * 1024

export interface UnreadLimits {
  /** One account may hold so much, beside what its newest answer holds. */
  maxBytes: number
  /**
   * All together may hold so much: beyond it, whoever holds most loses the oldest. The answer that begins is cut where it is a visitor's,
   * and what is left is read with keys.
   */
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
    begin(taker, response, holds) {
      if (response.destroyed || isShort(holds)) return
      const holding = holdingOf(holds)
      if (holding.bytes < shortBytes) return
      const isVisitors = areVisitors(taker)
      const accountId = accountOf(taker)
      const unread = { response, holding, isVisitors }
      const account = accounts.get(accountId) ?? newAccount()
      accounts.set(accountId, account)
      account.answers.add(unread)
      if (isVisitors) account.answersOfVisitors.add(unread)
      const heldBefore = heldByAll.bytes
      const count = account.holdings.get(holding) ?? 0
      account.holdings.set(holding, count + 1)
      if (count === 0) for (const held of [account.held, heldByAll]) hold(held, holding)
      response.once('close', () => letGo(accountId, account, unread))
      if (account.answers.size > 1) cutOldest(accountId, account, unread)
      // Whoever reads what others read already costs nothing, and to cut it would give nothing back.
      if (heldByAll.bytes > heldBefore)
        while (heldByAll.bytes > maxTotalBytes && cutLargest(accountId, account, unread));
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
    account.answersOfVisitors.delete(unread)
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

  /** Who has several loses the oldest of them before anybody loses the only one. False when nothing more is to be cut. */
  function cutLargest(accountId: string, account: OfAccount, newest: Unread): boolean {
    let largest: { id: string; its: OfAccount; bytes: number; isOnly: boolean } | null = null
    for (const [id, its] of accounts) {
      const isOnly = its.answers.size === 1
      if (isOnly && its === account) continue
      if (newest.isVisitors && its.answersOfVisitors.size === 0) continue
      const { bytes } = its.held
      const isLarger = !largest || (isOnly === largest.isOnly ? bytes > largest.bytes : !isOnly)
      if (isLarger) largest = { id, its, bytes, isOnly }
    }
    // All others are read with keys. Alone, it is sent however long it is.
    const from = largest ?? (newest.isVisitors && accounts.size > 1 ? { id: accountId, its: account } : null)
    const oldest = from && oldestOf(from.its, newest)
    if (!from || !oldest) return false
    cut(from.id, from.its, oldest, 'unread_total_percent')
    return oldest !== newest
  }

  function cutOldest(accountId: string, account: OfAccount, { holding: newest, isVisitors }: Unread): void {
    const { answers, answersOfVisitors, held } = account
    for (const among of isVisitors ? [answersOfVisitors] : [answersOfVisitors, answers])
      for (const unread of among) {
        if (held.bytes - newest.bytes <= maxBytes) return
        if (unread.holding === newest || unread.holding.buffers.isSubsetOf(newest.buffers)) continue
        cut(accountId, account, unread, 'unread_percent')
      }
  }
}

/** A visitor's that begins gives way to those of its account that somebody with a key reads. */
function oldestOf({ answers, answersOfVisitors }: OfAccount, newest: Unread): Unread | undefined {
  const [oldestOfVisitors] = answersOfVisitors
  if (oldestOfVisitors && oldestOfVisitors !== newest) return oldestOfVisitors
  return newest.isVisitors && oldestOfVisitors ? newest : firstBut(newest, answers)
}

function firstBut(newest: Unread, answers: Iterable<Unread>): Unread | undefined {
  for (const unread of answers) if (unread !== newest) return unread
  return undefined
}

function newAccount(): OfAccount {
  return {
    answers: new Set(),
    answersOfVisitors: new Set(),
    holdings: new Map(),
    held: { holders: new Map(), bytes: 0 },
  }
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
