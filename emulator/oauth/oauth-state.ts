import type { Picker } from '../google-api.ts'
import { type Accounts, createAccounts } from './accounts.ts'
import { type ApiKeys, createApiKeys } from './api-keys.ts'
import { type Clients, createClients } from './clients.ts'
import { createGrants, type Grants } from './grants.ts'
import { createServiceAccounts, type ServiceAccounts } from './service-accounts.ts'

/** How the authorization page decides by itself, without a person. */
export interface AutoConsent {
  /** Without one: the login hint, or the first account. */
  user?: string | undefined
  /** Granted of those asked for; all without it. */
  scopes?: string[] | undefined
  deny?: boolean | undefined
  /** Where the app asks for a picking: all that is shown, or these by title or id; nothing without it. */
  pick?: boolean | string[] | undefined
}

export interface OAuthState {
  nowMs: () => number
  accounts: Accounts
  clients: Clients
  grants: Grants
  serviceAccounts: ServiceAccounts
  apiKeys: ApiKeys
  files: Picker
  autoConsent: AutoConsent | undefined
}

export function createOAuthState(
  nowMs: () => number,
  autoConsent: AutoConsent | undefined,
  files: Picker,
): OAuthState {
  return {
    nowMs,
    accounts: createAccounts(),
    clients: createClients(),
    grants: createGrants(nowMs),
    serviceAccounts: createServiceAccounts(),
    apiKeys: createApiKeys(),
    files,
    autoConsent,
  }
}
