import type { AccountStore } from './accounts/accounts.ts'
import type { AdmissionStore } from './admission/admission-facts.ts'
import type { AlertStore } from './alerts/alerts.ts'
import type { AuditStore } from './audit/audit.ts'
import type { ChangeLogStore } from './changes/change-log.ts'
import type { AccessTokenStore } from './credentials/access-tokens.ts'
import type { CredentialStore } from './credentials/credentials.ts'
import type { FormStore } from './forms/forms.ts'
import type { KeyStore } from './keys/keys.ts'
import type { LeaseStore } from './leases/leases.ts'
import type { LookStore } from './looks/looks.ts'
import type { MailStore } from './mail/mail.ts'
import type { OperationStore } from './operations/operations.ts'
import type { OwnerStore } from './owners/owners.ts'
import type { ProofStore } from './proofs/proofs.ts'
import type { RegisterStore } from './registers/registers.ts'
import type { SessionStore } from './sessions/sessions.ts'
import type { SheetStore } from './sheets/sheets.ts'
import type { QuotaChargeStore } from './usage/quota-charges.ts'
import type { UsageFigureStore } from './usage/usage-figures.ts'
import type { WebhookNewsStore } from './webhooks/webhook-news.ts'
import type { WebhookSendingStore } from './webhooks/webhook-sending.ts'
import type { WebhookStore } from './webhooks/webhooks.ts'
import type { WindowStore } from './windows/windows.ts'

/**
 * What Rowport remembers. Every change is one transaction, durable when its promise resolves and seen by every
 * look-up that starts after that, in this process and in others on the same store. What is to be kept for an account
 * or a sheet that is no longer there throws `GoneMeanwhile`, and nothing is kept.
 */
export interface Store
  extends AdmissionStore,
    AccountStore,
    SheetStore,
    KeyStore,
    QuotaChargeStore,
    AccessTokenStore,
    CredentialStore,
    SessionStore,
    OwnerStore,
    OperationStore,
    AuditStore,
    MailStore,
    AlertStore,
    LeaseStore,
    WindowStore,
    RegisterStore,
    ChangeLogStore,
    LookStore,
    FormStore,
    ProofStore,
    WebhookStore,
    WebhookSendingStore,
    WebhookNewsStore,
    UsageFigureStore {
  /** Throws when the store cannot be reached, and `StoreUnwritable` while it takes no writes. */
  ping(): Promise<void>
  close(): Promise<void>
}
