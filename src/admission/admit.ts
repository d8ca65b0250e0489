import { Refusal } from '../errors.ts'
import type { Observe } from '../reporting/observe.ts'
import type { RateWindows } from '../shared-state/rate-windows/rate-windows.ts'
import type { Taker } from '../shares/taker.ts'
import type { AccountFacts, Facts, KeyFacts } from '../store/admission/admission-facts.ts'
import type { SheetRecord } from '../store/sheets/sheets.ts'
import type { Store } from '../store/store.ts'
import { type Admitted, refuse } from './admitted.ts'
import { type AdmissionCall, isPastAuthentication, judge, type Pass, takerOf } from './judge.ts'
import { createKeyLimits } from './key-limits.ts'
import { isOriginAllowed } from './key-policy.ts'
import type { KeyUse } from './key-use.ts'
import type { Plans } from './plans.ts'
import { createPublicLimits, type PublicReaders } from './public-limits.ts'
import type { Quota } from './quota.ts'
import { createVisitorLimits } from './visitor-limits.ts'

export interface Admission {
  /**
   * May this call pass? Asks the store anew each time: what was changed a moment ago already holds. Readers without a key
   * are counted by where they come from.
   */
  admit(call: AdmissionCall, clientAddress: string): Promise<Admitted<Pass>>
  /** Asks once more, for a write that had to wait for its turn; counts nothing. */
  stillAdmits(call: AdmissionCall): Promise<Refusal | null>
  /**
   * For what a visitor sends by a form, which stands in place of a key; `null`: for what its owner has released, which no window
   * counts.
   */
  admitForm(form: AdmittedForm, clientAddress: string | null): Promise<Admitted<Pass>>
  /** For what belongs to the account and not to one sheet: the key says which account. */
  admitToAccount(
    call: Pick<AdmissionCall, 'keyHash' | 'origin'>,
    clientAddress: string,
  ): Promise<Admitted<AccountPass>>
}

export interface AdmittedForm {
  id: string
  sheetId: string
  settings: { entriesPerMinute: number; entriesPerHour: number }
}

export type AccountRight = 'read' | 'add' | 'change'

export interface AccountPass {
  account: AccountFacts
  sheet: null
  key: KeyFacts
  taker: Taker
  /** The sheets that this key opens. */
  sheets: SheetRecord[]
  /** What it may do there, as long as nothing else is in the way. */
  may: readonly AccountRight[]
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
  const visitorLimits = createVisitorLimits(plans, parts.publicReaders, parts.observe)

  return {
    admit(call, clientAddress) {
      return store.lookUp(call.address, call.keyHash).then((facts) => {
        const verdict = judge(call, facts, plans)
        if (verdict instanceof Refusal) return refuseEarly(verdict, facts, clientAddress)
        if (verdict.key === null) return publicLimits.takeRequest(verdict, clientAddress)
        const { id, policy } = verdict.key
        keyUse.noteKeyUse(id)
        if (policy) {
          const { requestsPerMinute } = policy
          return visitorLimits.takeRequest(verdict, { id, requestsPerMinute }, call.intent, clientAddress)
        }
        return keyLimits.takeRequest(verdict, call.intent)
      })
    },

    async stillAdmits(call) {
      const verdict = judge(call, await store.lookUp(call.address, call.keyHash), plans)
      return verdict instanceof Refusal ? verdict : null
    },

    async admitForm({ id, sheetId, settings }, clientAddress) {
      const { account, sheet } = await store.lookUp({ form: 'b', sheetId }, null)
      if (!account || !sheet) return refuse(new Refusal('sheet_not_found'))
      if (sheet.paused) return refuse(new Refusal('sheet_paused'))
      if (!plans.get(account.plan)?.writeApi) return refuse(new Refusal('write_api_not_enabled'))
      const isFromOwner = clientAddress === null
      const taker = isFromOwner ? account.id : takerOf(account, null)
      const pass: Pass = { account, sheet, key: null, taker }
      if (isFromOwner) return visitorLimits.takeNothing(pass)
      const { entriesPerMinute: requestsPerMinute, entriesPerHour: requestsPerHour } = settings
      return visitorLimits.takeRequest(
        pass,
        { id, requestsPerMinute, requestsPerHour },
        'write',
        clientAddress,
      )
    },

    async admitToAccount({ keyHash, origin }, clientAddress) {
      const found = keyHash === null ? null : await store.lookUpKey(keyHash)
      if (!found) {
        const refusal = new Refusal(keyHash === null ? 'api_key_required' : 'invalid_api_key')
        return { ...refuse(refusal), isStranger: true }
      }
      const { account, key } = found
      const { policy } = key
      if (policy && !isOriginAllowed(policy, origin))
        return { ...refuse(new Refusal('origin_not_allowed')), isStranger: true }
      const sheets = (await store.sheetsOf(account.id)).filter(
        (sheet) =>
          (key.sheetId === null || key.sheetId === sheet.id) &&
          (key.mode === 'live' || sheet.accepts !== 'live'),
      )
      keyUse.noteKeyUse(key.id)
      const isWritingInPlan = plans.get(account.plan)?.writeApi === true
      const rights: readonly AccountRight[] =
        policy?.may ?? (key.scope === 'read-write' ? ['read', 'add', 'change'] : ['read'])
      const may = rights.filter((right) => right === 'read' || isWritingInPlan)
      const pass: AccountPass = { account, sheet: null, key, taker: takerOf(account, key), sheets, may }
      if (!policy) return keyLimits.takeRequest(pass, 'read')
      const { requestsPerMinute } = policy
      return visitorLimits.takeRequest(pass, { id: key.id, requestsPerMinute }, 'read', clientAddress)
    },
  }

  /** A caller whose key is good is told its limits also where something else was in the way; it costs nothing. */
  async function refuseEarly(
    refusal: Refusal,
    { account, sheet, key }: Facts,
    clientAddress: string,
  ): Promise<Admitted<never>> {
    if (!account || !sheet || !isPastAuthentication(refusal)) return { ...refuse(refusal), isStranger: true }
    const rate = key?.policy
      ? await visitorLimits.readRate({ ...key.policy, id: key.id }, clientAddress)
      : key
        ? await keyLimits.readRate(account, key)
        : await publicLimits.readRate(account, sheet, clientAddress)
    const taker = takerOf(account, key)
    return { ...refuse(refusal), caller: { account, sheet, key, taker }, limits: { rate, quota: null } }
  }
}
