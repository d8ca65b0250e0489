import type { ServerResponse } from 'node:http'
import type { Observe } from '../reporting/observe.ts'

/**
 * Long answers that are still being read. They are sent from the memory of their snapshot, or of what was compressed of it,
 * without a copy: any number of readers costs nothing more, but each holds on to it, also when newer rows have long taken its place.
 * So there is an end to what the slow readers of one account can keep in memory.
 */
export interface UnreadAnswers {
  begin(accountId: string, response: Reading, holds: readonly ArrayBufferView[]): void
}

type Reading = Pick<ServerResponse, 'once' | 'destroy' | 'destroyed'>

interface Unread {
  response: Reading
  buffers: ReadonlySet<ArrayBufferLike>
}

/** Shorter ones are hardly worth a list, and soon read. */
const shortBytes = 256 * 1024

/** `maxBytes`: of one account, beside what its newest answer holds. */
export function createUnreadAnswers(maxBytes: number, observe: Observe): UnreadAnswers {
  /** The oldest first. */
  const ofAccount = new Map<string, Set<Unread>>()

  return {
    begin(accountId, response, holds) {
      const buffers = new Set(holds.map(({ buffer }) => buffer))
      if (response.destroyed || sizeOf(buffers) < shortBytes) return
      const unread = { response, buffers }
      const all = ofAccount.get(accountId) ?? new Set()
      ofAccount.set(accountId, all.add(unread))
      response.once('close', () => {
        all.delete(unread)
        if (all.size === 0 && ofAccount.get(accountId) === all) ofAccount.delete(accountId)
      })
      if (all.size > 1) cutOldest(accountId, all, buffers)
    },
  }

  function cutOldest(accountId: string, all: Set<Unread>, newest: ReadonlySet<ArrayBufferLike>): void {
    for (const unread of [...all]) {
      if (bytesBeside(all, newest) <= maxBytes) return
      if (unread.buffers.isSubsetOf(newest)) continue
      all.delete(unread)
      unread.response.destroy()
      observe({ event: 'share_used_up', share: 'unread_percent', accountId })
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
