import type { KeyView } from '../../../../src/dashboard/contract.ts'

const dayMs = 24 * 60 * 60_000
export const unusedDays = 90

export function isActive({ state }: KeyView): boolean {
  return state === 'active'
}

/** It could go without anybody noticing: used long ago, or made long ago and never used. */
export function isUnused(key: KeyView): boolean {
  return isActive(key) && (key.lastUsedAtMs ?? key.createdAtMs) < Date.now() - unusedDays * dayMs
}
