import { type ErrorCode, Refusal } from '../errors.ts'
import type {
  AccountFacts,
  Facts,
  KeyFacts,
  SheetAddress,
  SheetFacts,
} from '../store/admission/admission-facts.ts'
import type { Plans } from './plans.ts'

export type { SheetAddress }

/** What a caller wants, as far as admission cares. */
export interface AdmissionCall {
  address: SheetAddress
  /** The hash of the key as sent, null when none was. A key that was sent is always judged, also where none is needed. */
  keyHash: string | null
  intent: 'read' | 'write'
}

/** The proof of admission, and the only way to get hold of a sheet. */
export interface Pass {
  account: AccountFacts
  sheet: SheetFacts
  /** null for a keyless read of a public sheet. */
  key: KeyFacts | null
}

/** Refusals of callers who are strangers still: they count against the caller's address. */
const beforeAuthentication: ReadonlySet<ErrorCode> = new Set([
  'account_not_found',
  'sheet_not_found',
  'api_key_required',
  'invalid_api_key',
])

export function isPastAuthentication({ code }: Refusal): boolean {
  return !beforeAuthentication.has(code)
}

/**
 * The order (docs/contract.md#order-of-checks): account → sheet → key → paused → plan and scope. Pure, so that it can
 * be read as the truth table it is. Nothing after the key is told to a caller without one (public sheets aside).
 */
export function judge(call: AdmissionCall, { account, sheet, key }: Facts, plans: Plans): Pass | Refusal {
  if (call.address.form === 'a' && !account) return new Refusal('account_not_found')
  if (!account || !sheet) return new Refusal('sheet_not_found')

  const isKeyNeeded = call.intent === 'write' || sheet.access === 'private'
  if (call.keyHash === null && isKeyNeeded) return new Refusal('api_key_required')
  if (call.keyHash !== null && !key) return new Refusal('invalid_api_key')
  if (key?.mode === 'test' && sheet.accepts === 'live') return new Refusal('invalid_api_key')

  if (sheet.paused) return new Refusal('sheet_paused')

  if (call.intent === 'write') {
    if (!plans.get(account.plan)?.writeApi) return new Refusal('write_api_not_enabled')
    if (key?.scope !== 'read-write')
      return new Refusal('insufficient_scope', { fill: { scope: 'read-write' } })
  }
  return { account, sheet, key }
}
