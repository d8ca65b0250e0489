import { GoneMeanwhile } from '../../errors.ts'
import type { Observe } from '../../reporting/observe.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import type { AuditEntry, NewAuditEntry } from '../../store/audit/audit.ts'
import type { Store } from '../../store/store.ts'

export type { AuditEntry }

/** Who changed which setting, key or connection, when and from where. */
export interface AuditLog {
  /** What was done stays done, also where it cannot be noted. */
  note(entry: NewAuditEntry): Promise<void>
  of(accountId: string): Promise<AuditEntry[]>
}

const shown = 200

export function createAuditLog(
  store: Pick<Store, 'addAuditEntry' | 'auditEntriesOf'>,
  observe: Observe,
): AuditLog {
  return {
    async note(entry) {
      try {
        await store.addAuditEntry(entry)
      } catch (error) {
        // The account itself was ended.
        if (error instanceof GoneMeanwhile) return
        observe({ event: 'malfunction', reference: randomBase62(12), operation: 'none', error })
      }
    },
    of: (accountId) => store.auditEntriesOf(accountId, shown),
  }
}
