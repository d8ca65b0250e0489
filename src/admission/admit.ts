import { Refusal } from '../errors.ts'
import type { AccountFacts, KeyFacts, SheetRecord, Store } from '../store/store.ts'
import { hashApiKey } from './api-key.ts'
import { type Call, judge, type Pass } from './judge.ts'
import type { Plans } from './plans.ts'

/** Not an SHA-256 in hex, so no stored key has it: a misshapen key is looked up like any other and not found. */
const hashOfNoKey = ''

export interface Admission {
  /** May this call pass? Asks the store anew each time: what was changed a moment ago already holds. */
  admit(call: Call): Promise<Pass | Refusal>
  /** For what belongs to the account and not to one sheet: the key says which account. */
  admitToAccount(apiKey: string | null): Promise<AccountPass | Refusal>
}

export interface AccountPass {
  account: AccountFacts
  key: KeyFacts
  /** The sheets this key may read. */
  sheets: SheetRecord[]
}

export function createAdmission(store: Store, plans: Plans): Admission {
  return {
    async admit(call) {
      const keyHash = call.apiKey === null ? null : (hashApiKey(call.apiKey) ?? hashOfNoKey)
      return judge(call, await store.lookUp(call.address, keyHash), plans)
    },

    async admitToAccount(apiKey) {
      if (apiKey === null) return new Refusal('api_key_required')
      const found = await store.lookUpKey(hashApiKey(apiKey) ?? hashOfNoKey)
      if (!found) return new Refusal('invalid_api_key')
      const { account, key } = found
      const sheets = (await store.sheetsOf(account.id)).filter(
        (sheet) =>
          (key.sheetId === null || key.sheetId === sheet.id) &&
          (key.mode === 'live' || sheet.accepts !== 'live'),
      )
      return { account, key, sheets }
    },
  }
}
