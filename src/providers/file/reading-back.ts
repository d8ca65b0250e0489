import { ProviderFailure } from '../../sheets/provider-failure.ts'
import type { Cell } from '../../sheets/rows/grid.ts'

/**
 * Before a file is replaced, the new one is read as a client's next read will read it, and held against the old one and
 * the changes. A difference is a fault of ours, so it must not reach the file; `what` is for the log, and quotes nothing.
 */
export function notAsAsked(what: string): ProviderFailure {
  return new ProviderFailure(
    'the change was made on trial and did not read back as it should, so the file was left as it is',
    { cause: new Error(what) },
  )
}

/** Empty cells at the end of a row say nothing. */
export function isSameRow(one: readonly Cell[], other: readonly Cell[]): boolean {
  const length = Math.max(one.length, other.length)
  for (let at = 0; at < length; at++) if ((one[at] ?? null) !== (other[at] ?? null)) return false
  return true
}
