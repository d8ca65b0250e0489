import { type ErrorEntry, errorTable, Refusal } from '../errors.ts'
import { type Taker, visitorsOf } from '../shares/taker.ts'
import type {
  AccountFacts,
  Facts,
  KeyFacts,
  SheetAddress,
  SheetFacts,
} from '../store/admission/admission-facts.ts'
import { isOriginAllowed, type NeededRight, problemWithRight } from './key-policy.ts'
import type { Plans } from './plans.ts'

export type { SheetAddress }

/** What a caller wants, as far as admission cares. */
export interface AdmissionCall {
  address: SheetAddress
  /** The hash of the key as sent, null when none was. A key that was sent is always judged, also where none is needed. */
  keyHash: string | null
  intent: 'read' | 'write'
  /** What a publishable key must be allowed for it. */
  pageRight: NeededRight
  /** The page that asks, as its browser says; null where none does. */
  origin: string | null
}

/** The proof of admission, and the only way to get hold of a sheet. */
export interface Pass {
  account: AccountFacts
  sheet: SheetFacts
  /** null for a keyless read of a public sheet. */
  key: KeyFacts | null
  /** Whose share of what all share it takes. */
  taker: Taker
}

/** The one place where it is decided: readers without a key and whoever comes through a page are visitors. */
export function takerOf({ id }: Pick<AccountFacts, 'id'>, key: Pick<KeyFacts, 'policy'> | null): Taker {
  return key && !key.policy ? id : visitorsOf(id)
}

export function isPastAuthentication({ code }: Refusal): boolean {
  const { isBeforeAuthentication }: ErrorEntry = errorTable[code]
  return isBeforeAuthentication !== true
}

/**
 * The order (docs/contract.md#order-of-checks): account → sheet → key → origin → paused → plan and scope. Pure, so that it can
 * be read as the truth table it is. Nothing after the key is told to a caller without one (public sheets aside).
 */
export function judge(call: AdmissionCall, { account, sheet, key }: Facts, plans: Plans): Pass | Refusal {
  if (call.address.form === 'a' && !account) return new Refusal('account_not_found')
  if (!account || !sheet) return new Refusal('sheet_not_found')

  const isKeyNeeded = call.intent === 'write' || sheet.access === 'private'
  if (call.keyHash === null && isKeyNeeded) return new Refusal('api_key_required')
  if (call.keyHash !== null && !key) return new Refusal('invalid_api_key')
  if (key?.mode === 'test' && sheet.accepts === 'live') return new Refusal('invalid_api_key')
  if (key?.policy && !isOriginAllowed(key.policy, call.origin)) return new Refusal('origin_not_allowed')

  if (sheet.paused) return new Refusal('sheet_paused')

  const isWrite = call.intent === 'write'
  if (isWrite && !plans.get(account.plan)?.writeApi) return new Refusal('write_api_not_enabled')
  const lacking = key?.policy
    ? problemWithRight(key.policy, call.pageRight)
    : isWrite && key?.scope !== 'read-write'
      ? new Refusal('insufficient_scope', { fill: { scope: 'read-write' } })
      : null
  return lacking ?? { account, sheet, key, taker: takerOf(account, key) }
}
