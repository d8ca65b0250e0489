import { Refusal } from '../errors.ts'
import type { Observe } from '../reporting/observe.ts'
import type { RateWindows } from '../shared-state/rate-windows/rate-windows.ts'
import type { AccountFacts, Facts, KeyFacts } from '../store/admission/admission-facts.ts'
import type { SheetRecord } from '../store/sheets/sheets.ts'
import type { Store } from '../store/store.ts'
import { type Admitted, refused } from './admitted.ts'
import { type AdmissionCall, isPastAuthentication, judge, type Pass } from './judge.ts'
import { createKeyLimits } from './key-limits.ts'
import type { KeyUse } from './key-use.ts'
import type { Plans } from './plans.ts'
import { createPublicLimits, type PublicReaders } from './public-limits.ts'
import type { Quota } from './quota.ts'

export interface Admission {
  /**
   * May this call pass? Asks the store anew each time: what was changed a moment ago already holds. Readers without a key
   * are counted by where they come from.
   */
  admit(call: AdmissionCall, clientAddress: string): Promise<Admitted<Pass>>
  /** Asks once more, for a write that had to wait for its turn; counts nothing. */
  stillAdmits(call: AdmissionCall): Promise<Refusal | null>
  /** For what belongs to the account and not to one sheet: the key says which account. */
  admitToAccount(keyHash: string | null): Promise<Admitted<AccountPass>>
}

export interface AccountPass {
  account: AccountFacts
  sheet: null
  key: KeyFacts
  /** The sheets this key may read. */
  sheets: SheetRecord[]
}

export interface AdmissionParts {
  store: Pick<Store, 'lookUp' | 'lookUpKey' | 'sheetsOf'>
  plans: Plans
  windows: RateWindows
  quota: Quota
  keyUse: KeyUse
  publicReaders: PublicReaders
  observe: Observe
}

/**
 * What `judge` says of account, sheet, key, pause, plan and scope, then rate limit, then quota
 * (docs/contract.md#order-of-checks).
 */
export function createAdmission(parts: AdmissionParts): Admission {
  const { store, plans, keyUse } = parts
  const keyLimits = createKeyLimits(plans, parts.windows, parts.quota)
  const publicLimits = createPublicLimits(plans, parts.publicReaders, parts.observe)

  return {
    admit(call, clientAddress) {
      return store.lookUp(call.address, call.keyHash).then((facts) => {
        const verdict = judge(call, facts, plans)
        if (verdict instanceof Refusal) return refusedEarly(verdict, facts, clientAddress)
        if (verdict.key === null) return publicLimits.takeRequest(verdict, clientAddress)
        keyUse.noteKeyUse(verdict.key.id)
        return keyLimits.takeRequest(verdict, call.intent)
      })
    },

    async stillAdmits(call) {
      const verdict = judge(call, await store.lookUp(call.address, call.keyHash), plans)
      return verdict instanceof Refusal ? verdict : null
    },

    async admitToAccount(keyHash) {
      const found = keyHash === null ? null : await store.lookUpKey(keyHash)
      if (!found) {
        const refusal = new Refusal(keyHash === null ? 'api_key_required' : 'invalid_api_key')
        return { ...refused(refusal), isStranger: true }
      }
      const { account, key } = found
      const sheets = (await store.sheetsOf(account.id)).filter(
        (sheet) =>
          (key.sheetId === null || key.sheetId === sheet.id) &&
          (key.mode === 'live' || sheet.accepts !== 'live'),
      )
      keyUse.noteKeyUse(key.id)
      return keyLimits.takeRequest({ account, sheet: null, key, sheets }, 'read')
    },
  }

  /** A caller whose key is good is told its limits also where something else was in the way; it costs nothing. */
  async function refusedEarly(
    refusal: Refusal,
    { account, sheet, key }: Facts,
    clientAddress: string,
  ): Promise<Admitted<never>> {
    if (!account || !sheet || !isPastAuthentication(refusal)) return { ...refused(refusal), isStranger: true }
    const rate = key
      ? await keyLimits.readRate(account, key)
      : await publicLimits.readRate(account, sheet, clientAddress)
    return { ...refused(refusal), caller: { account, sheet, key }, limits: { rate, quota: null } }
  }
}
