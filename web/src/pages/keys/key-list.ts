import type { KeyView } from '../../../../src/dashboard/contract.ts'
import { naturally } from '../../ui/natural-order.ts'
import { isActive, isUnused, unusedDays } from './key-state.tsx'

export type KeyFilter = 'active' | 'unused' | 'expiring' | 'ended'

/** What stands in the URL of the list. */
export interface KeysSearch {
  q?: string | undefined
  show?: KeyFilter | undefined
}

export const keyFilters: readonly { value: KeyFilter; title: string }[] = [
  { value: 'active', title: 'Active keys' },
  { value: 'unused', title: `Unused for ${unusedDays} days` },
  { value: 'expiring', title: 'With an expiry date' },
  { value: 'ended', title: 'Revoked and expired' },
]

export function keysSearchIn({ q, show }: Record<string, unknown>): KeysSearch {
  return {
    ...(q !== undefined && q !== '' && { q: String(q) }),
    ...(keyFilters.some(({ value }) => value === show) && show !== 'active' && { show: show as KeyFilter }),
  }
}

export function listedKeys(keys: readonly KeyView[], { q = '', show = 'active' }: KeysSearch): KeyView[] {
  const wanted = q.trim().toLowerCase()
  return keys
    .filter(({ name, sheetSlug, shownStart, shownEnd }) =>
      `${name} ${sheetSlug ?? ''} ${shownStart} ${shownEnd}`.toLowerCase().includes(wanted),
    )
    .filter((key) => meant[show](key))
    .toSorted((one, other) => naturally(one.name, other.name))
}

const meant: Record<KeyFilter, (key: KeyView) => boolean> = {
  active: isActive,
  unused: isUnused,
  expiring: (key) => isActive(key) && key.expiresAtMs !== null,
  ended: (key) => !isActive(key),
}
