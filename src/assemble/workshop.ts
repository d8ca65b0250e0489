import type { Plans } from '../admission/plans.ts'
import type { EndAccount } from '../management/accounts/account-ending.ts'
import type { Accounts } from '../management/accounts/accounts.ts'
import type { BySlug } from '../management/accounts/by-slug.ts'
import type { AuditLog } from '../management/audit/audit-log.ts'
import type { Connections } from '../management/connections/connections.ts'
import type { Forms } from '../management/forms/forms.ts'
import type { Keys } from '../management/keys/keys.ts'
import type { SignIn } from '../management/people/sign-in.ts'
import type { Problem } from '../management/problem.ts'
import type { Connecting } from '../management/sheets/connecting.ts'
import type { Sheets } from '../management/sheets/sheets.ts'
import type { Uploads } from '../management/uploads/uploads.ts'
import type { Webhooks } from '../management/webhooks/webhooks.ts'
import type { Metrics } from '../reporting/metrics.ts'
import type { Observe } from '../reporting/observe.ts'
import type { Sealing } from '../secrets/sealing.ts'
import type { RateWindows } from '../shared-state/rate-windows/rate-windows.ts'
import type { ShareValue } from '../shared-state/registers/shared-value.ts'
import type { LoopTurns } from '../shares/loop-turns.ts'
import type { Provider } from '../sheets/provider.ts'
import type { ProviderKinds } from '../sheets/provider-kind.ts'
import type { Decoding } from '../sheets/reading/decoding.ts'
import type { CopiedTable } from '../store/sql/copy-store.ts'
import type { Store } from '../store/store.ts'
import type { UsedUpShares } from '../usage/used-up-shares.ts'
import type { SignedPost } from '../webhooks/signed-post.ts'

/** What every command needs to change things; the server comes on top of it. */
export interface Workshop {
  observe: Observe
  metrics: Metrics
  usedUpShares: UsedUpShares
  store: Store
  plans: Plans
  accounts: Accounts
  /** For whoever runs the server, who names accounts by their slugs. */
  sheets: BySlug['sheets']
  keys: BySlug['keys']
  /** For whoever is signed in: by the account's id. */
  ofOwner: { sheets: Sheets; keys: Keys; connecting: Connecting }
  forms: Forms
  webhooks: Webhooks
  /** Sends a message to a webhook, once. */
  postToWebhook: SignedPost
  signIn: SignIn
  endAccount: EndAccount
  audit: AuditLog
  /** null where files of this machine are not served. */
  uploads: Uploads | null
  kinds: ProviderKinds
  connections: Connections
  sealing: Sealing
  shared: SharedState
  /** How people reach the server, without a slash at the end. With PORT=0 it is known when the server listens. */
  baseUrl: string
  providers: ReadonlyMap<string, Provider>
  decoding: Decoding
  /** On the thread that answers everybody. */
  turns: LoopTurns
  /** Copies the embedded store into an empty PostgreSQL, all of it or nothing. */
  copyStoreTo(url: string): Promise<CopiedTable[] | Problem>
  close(): Promise<void>
}

/** What instances share beside what they remember. */
export interface SharedState {
  windows: RateWindows
  share: ShareValue
  /** It can be reached, or has had its time for that. */
  settled(): Promise<void>
  close(): Promise<void>
}
