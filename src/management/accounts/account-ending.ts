import type { AccountRecord } from '../../store/accounts/accounts.ts'
import type { Store } from '../../store/store.ts'
import type { Connections } from '../connections/connections.ts'
import { Problem } from '../problem.ts'
import type { Uploads } from '../uploads/uploads.ts'

/** Ends an account for good: with its store rows, its files, and its access to every provider. */
export type EndAccount = (account: AccountRecord, confirmSlug: string) => Promise<Problem | null>

export function createAccountEnding(
  store: Pick<Store, 'deleteAccount'>,
  connections: Pick<Connections, 'disconnectAll'>,
  uploads: Pick<Uploads, 'removeAll'> | null,
): EndAccount {
  return async ({ id, slug }, confirmSlug) => {
    if (confirmSlug !== slug) return new Problem(`Type ${slug} to confirm.`, { field: 'confirmSlug' })
    // While the tokens can still be read; whether a provider can be told does not hold up the end.
    await connections.disconnectAll(id)
    await store.deleteAccount(id)
    await uploads?.removeAll(id)
    return null
  }
}
