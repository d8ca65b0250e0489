import type { ProvenAssumption, SwitchedOff } from './proof.ts'
import type { ProviderKind } from './provider-kind.ts'

/**
 * How owners let Rowport in where their spreadsheets live, and what they can choose there. Delegated consent, service
 * accounts and keys differ in how access is got; everything above sees this. Every method that asks the provider throws
 * `ProviderFailure` when that fails, and `CredentialExpired` when only the owner can help; the exchanges tell what was
 * wrong with what the owner brought, or that nobody could be asked, as a `ConnectionProblem`.
 */
export interface Connection {
  kind: ProviderKind
  words: ConnectionWords
  /** null where the operator has not set it up. */
  access: ConnectionAccess | null
  /** The address with which owners share what this credential may use; null where it is their own access. */
  shareWith(subject: string): string | null
  /** Whether what the owner allowed reaches to all of their spreadsheets, and not only to those that they chose there. */
  canSeeAll(scopes: readonly string[]): boolean
}

/** What nobody but the provider can say. */
export interface ConnectionWords {
  /** What the operator must do before anybody can connect: after "is not set up on this server; whoever runs it must …". */
  setUp: string
  /** What a sheet's owner is told where it is not set up, in sentences. */
  setUpDetails: string
  /** What owners are told who look at the settings. */
  notSetUp: string
  /** For who pasted something else. */
  notALink: string
  /** How the owner ends the access of this subject there, when it could not be revoked from here: after "the owner can …". */
  endItThere(subject: string): string
  /** What looks like a link and not like words to search for: the source of a regular expression. */
  linkPattern: string
  /** For those who connect by a key: what that is called, what to paste, and where the owner finds it; `isFile`: it comes as a file. */
  key: { name: string; label: string; hint: string; isFile: boolean } | null
}

export interface ConnectionAccess extends TokenSource {
  /** Those that `ProviderKind.connectsBy` names and the operator has set up. */
  entrances: { consent: ConsentEntrance | null; key: KeyEntrance | null }
  /** Whether what is open to everybody is read without a credential; nobody writes there. */
  readsPublic: boolean
  /** False when the provider did not know the token any more. */
  revoke(token: string): Promise<boolean>
  /** Newest first, and at most a page. 'not_allowed' when the access does not reach to listing: then a link is the way. */
  listSpreadsheets(credentialId: string, search: string): Promise<SpreadsheetPage | 'not_allowed'>
  /** `credentialId`: null for what is open to everybody, where `readsPublic`; it is for this account all the same. */
  listTabs(credentialId: string | null, spreadsheetId: string, accountId: string): Promise<SpreadsheetTabs>
  /** A spreadsheet as people paste it; null for anything else. */
  parsePasted(pasted: string): { spreadsheetId: string; tabId?: number } | null
  /** Tries what our promises take for granted there, on a tab that is gone afterwards; absent where nothing is left open. */
  prove?(credentialId: string, spreadsheetId: string): Promise<ProvenAssumption[]>
  /** What is not done there because it was found not to hold; with `prove`. */
  switchedOff?(): Promise<SwitchedOff[]>
  /** As the store keeps it. What has the same source shares one lane of writes. */
  locate(tab: ChosenTab): { location: string; source: string }
}

/** Where access tokens come from. */
export interface TokenSource {
  /**
   * `token`: the lasting one of the grant. 'dead': the provider will never again take it. Any other failure is thrown, and
   * says nothing of it.
   */
  refresh(token: string): Promise<{ accessToken: string; expiresInSeconds: number } | { dead: string }>
}

/** The owner consents on a page of the provider, which sends them back with a code (OAuth 2, PKCE). */
export interface ConsentEntrance {
  /** Where that page is. */
  origin: string
  consentUrl(attempt: { state: string; codeChallenge: string; redirectUri: string }): string
  exchangeCode(attempt: {
    code: string
    verifier: string
    redirectUri: string
  }): Promise<Grant | ConnectionProblem>
  /** What the page sends back instead of a code. */
  problemOf(error: string): ConnectionProblem
  /** Ids of what the owner chose on the way, in what they brought back; anybody may have written them. */
  pickedIds(query: URLSearchParams): string[]
}

/** The owner pastes a key. */
export interface KeyEntrance {
  exchangeKey(key: string): Promise<Grant | ConnectionProblem>
}

/** Lasting access to what is one person's. */
export interface Grant {
  /** Kept sealed; `refresh` makes access tokens of it. */
  token: string
  scopes: string[]
  /** Who it is, by the provider's own unchanging name. */
  subject: string
  /** Who it is, for people: an e-mail address. */
  label: string
}

export interface ConnectionProblem {
  problem: 'denied' | 'scope_missing' | 'failed'
  /** For the owner. */
  words: string
}

export interface SpreadsheetPage {
  spreadsheets: { spreadsheetId: string; title: string; modifiedAtMs: number }[]
  nextPageToken: string | null
}

export interface SpreadsheetTabs {
  title: string
  /** Those with cells, in their order; a tab that is all chart has none. */
  tabs: SpreadsheetTab[]
}

export interface SpreadsheetTab {
  tabId: number
  title: string
  rows: number
  columns: number
  isHidden: boolean
}

/** The titles are for people who look at a list; the ids find the tab, whatever it is called by then. */
export interface ChosenTab {
  spreadsheetId: string
  tabId: number
  title: string
  tabTitle: string
}
