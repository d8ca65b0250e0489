import type { Connection, ConnectionAccess, ConsentEntrance, TokenSource } from '../../sheets/connection.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import type { GoogleFiles } from './google-files.ts'
import { googleKind } from './google-kind.ts'
import { locateGoogleTab, parsePastedSpreadsheet } from './google-location.ts'
import { pickedIdsIn } from './oauth/google-consent.ts'
import type { GoogleOAuth } from './oauth/google-oauth.ts'
import { type OAuthProblem, problemOfConsent, registerApp } from './oauth/oauth-problem.ts'
import { isServiceAccount, isServiceAccountToken, type ServiceAccounts } from './oauth/service-account.ts'

export interface GoogleAccess {
  /** null where the operator has registered no app. */
  oauth: GoogleOAuth | null
  serviceAccounts: ServiceAccounts
  tokenSource: TokenSource
  hasApiKey: boolean
  prove: NonNullable<ConnectionAccess['prove']>
  switchedOff: NonNullable<ConnectionAccess['switchedOff']>
  files: GoogleFiles
  /** Where the page is on which owners consent. */
  consentOrigin: string
}

/** Google as one of those whom owners connect. A service account can always be: it takes no setting of the operator's. */
export function createGoogleConnection(google: GoogleAccess): Connection {
  return {
    kind: googleKind,
    words: {
      setUp: 'set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET',
      setUpDetails: registerApp,
      notSetUp:
        'Google isn’t set up on this server. Ask your administrator to set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET.',
      notALink:
        'that is not the link of a Google spreadsheet; it begins with https://docs.google.com/spreadsheets/d/',
      endItThere: (subject) =>
        isServiceAccount(subject)
          ? `delete the key of ${subject} in the Google Cloud console (IAM & Admin, Service Accounts)`
          : 'remove Rowport at https://myaccount.google.com/connections',
      linkPattern: '(?:docs|drive)\\.google\\.com|^[\\w-]{30,}$',
      key: {
        name: 'service account',
        label: 'Key of a service account (JSON)',
        hint: 'A service account is a Google account for programs. Create one in the Google Cloud console, download a key for it (a JSON file), and choose or paste that file here. Then share your spreadsheets with its address.',
        isFile: true,
      },
    },
    shareWith: (subject) => (isServiceAccount(subject) ? subject : null),
    canSeeAll: (scopes) => scopes.some((scope) => scope.endsWith('/auth/spreadsheets')),
    access: accessTo(google),
  }
}

function accessTo({
  oauth,
  serviceAccounts,
  tokenSource,
  hasApiKey,
  prove,
  switchedOff,
  files,
  consentOrigin,
}: GoogleAccess): ConnectionAccess {
  return {
    entrances: {
      consent: oauth && consentAt(consentOrigin, oauth),
      key: { exchangeKey: serviceAccounts.exchangeKey },
    },
    readsPublic: hasApiKey,
    refresh: tokenSource.refresh,
    async revoke(token) {
      // Only who may manage the project can delete a key there.
      if (isServiceAccountToken(token) || !oauth) throw cannotBeRevoked()
      return oauth.revoke(token)
    },
    listSpreadsheets: files.listSpreadsheets,
    listTabs: files.listTabs,
    prove,
    switchedOff,
    parsePasted: parsePastedSpreadsheet,
    locate(tab) {
      const { location, source } = locateGoogleTab(tab)
      const { title, tabTitle } = tab
      return { location: JSON.stringify({ ...JSON.parse(location), title, tabTitle }), source }
    },
  }
}

function consentAt(origin: string, oauth: GoogleOAuth): ConsentEntrance {
  return {
    origin,
    consentUrl: oauth.consentUrl,
    async exchangeCode(attempt) {
      const grant = await oauth.exchangeCode(attempt)
      if ('problem' in grant) return forOwners(grant)
      const { refreshToken, scopes, subject, email } = grant
      return { token: refreshToken, scopes, subject, label: email }
    },
    problemOf: (error) => forOwners(problemOfConsent(error)),
    pickedIds: (query) => pickedIdsIn(query.get('picked_file_ids')),
  }
}

function cannotBeRevoked(): ProviderFailure {
  return new ProviderFailure('Google cannot be told by this server')
}

function forOwners({ problem, words }: OAuthProblem) {
  return {
    problem: problem === 'denied' || problem === 'scope_missing' ? problem : ('failed' as const),
    words,
  }
}
