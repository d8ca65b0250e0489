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

interface Unread {
  response: UnreadAnswer
  buffers: ReadonlySet<ArrayBufferLike>
}

/** Shorter ones are hardly worth a list, and soon read. */
const shortBytes = 256 * 1024

export interface UnreadLimits {
  /** Of one account, beside what its newest answer holds. */
  maxBytes: number
  /** Of all together: beyond it, whoever holds most loses the oldest. The answer that begins is never cut. */
  maxTotalBytes: number
}

export function createUnreadAnswers(
  { maxBytes, maxTotalBytes }: UnreadLimits,
  observe: Observe,
): UnreadAnswers {
  /** The oldest first. */
  const ofAccount = new Map<string, Set<Unread>>()
  /** By how many answers each is held. */
  const holders = new Map<ArrayBufferLike, number>()
  let totalBytes = 0

  return {
    begin(accountId, response, holds) {
      const buffers = new Set(holds.map(({ buffer }) => buffer))
      if (response.destroyed || sizeOf(buffers) < shortBytes) return
      const unread = { response, buffers }
      const all = ofAccount.get(accountId) ?? new Set()
      ofAccount.set(accountId, all.add(unread))
      for (const buffer of buffers) hold(buffer)
      response.once('close', () => letGo(accountId, all, unread))
      if (all.size > 1) cutOldest(accountId, all, buffers)
      while (totalBytes > maxTotalBytes && cutLargest(unread));
    },
  }

  function hold(buffer: ArrayBufferLike): void {
    const count = holders.get(buffer) ?? 0
    holders.set(buffer, count + 1)
    if (count === 0) totalBytes += buffer.byteLength
  }

  function letGo(accountId: string, all: Set<Unread>, unread: Unread): void {
    if (!all.delete(unread)) return
    if (all.size === 0 && ofAccount.get(accountId) === all) ofAccount.delete(accountId)
    for (const buffer of unread.buffers) {
      const count = holders.get(buffer) ?? 0
      if (count > 1) holders.set(buffer, count - 1)
      else if (holders.delete(buffer)) totalBytes -= buffer.byteLength
    }
  }

  function cut(accountId: string, all: Set<Unread>, unread: Unread, share: ShareName): void {
    letGo(accountId, all, unread)
    unread.response.destroy()
    observe({ event: 'share_used_up', share, accountId })
  }

  /** Who has several loses the oldest of them before anybody loses the only one. False when nothing is left to cut. */
  function cutLargest(newest: Unread): boolean {
    let largest: { accountId: string; all: Set<Unread>; bytes: number; isOnly: boolean } | null = null
    for (const [accountId, all] of ofAccount) {
      if (all.size === 1 && all.has(newest)) continue
      const isOnly = all.size === 1
      const bytes = bytesBeside(all, new Set())
      const isLarger = !largest || (isOnly === largest.isOnly ? bytes > largest.bytes : !isOnly)
      if (isLarger) largest = { accountId, all, bytes, isOnly }
    }
    const [oldest] = largest?.all ?? []
    if (!largest || !oldest || oldest === newest) return false
    cut(largest.accountId, largest.all, oldest, 'unread_total_percent')
    return true
  }

  function cutOldest(accountId: string, all: Set<Unread>, newest: ReadonlySet<ArrayBufferLike>): void {
    for (const unread of [...all]) {
      if (bytesBeside(all, newest) <= maxBytes) return
      if (unread.buffers.isSubsetOf(newest)) continue
      cut(accountId, all, unread, 'unread_percent')
    }
  }
}

function bytesBeside(all: ReadonlySet<Unread>, newest: ReadonlySet<ArrayBufferLike>): number {
  const held = new Set<ArrayBufferLike>()
  for (const { buffers } of all) for (const buffer of buffers) held.add(buffer)
  return sizeOf(held.difference(newest))
}

function sizeOf(buffers: ReadonlySet<ArrayBufferLike>): number {
  let bytes = 0
  for (const { byteLength } of buffers) bytes += byteLength
  return bytes
}
