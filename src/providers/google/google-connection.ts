import type { Connection } from '../../sheets/connection.ts'
import type { GoogleFiles } from './google-files.ts'
import { googleKind } from './google-kind.ts'
import { locateGoogleTab, parsePastedSpreadsheet } from './google-location.ts'
import { pickedIdsIn } from './oauth/google-consent.ts'
import type { GoogleOAuth } from './oauth/google-oauth.ts'
import { type OAuthProblem, problemOfConsent } from './oauth/oauth-problem.ts'

export interface GoogleAccess {
  oauth: GoogleOAuth
  files: GoogleFiles
  /** Where the page is on which owners consent. */
  consentOrigin: string
}

/** Google as one of those whom owners connect; null where the operator has not set it up. */
export function createGoogleConnection(google: GoogleAccess | null): Connection {
  return {
    kind: googleKind,
    words: {
      setUp: 'set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET',
      setUpDetails:
        'The operator sets GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET; docs/google-setup.md says how to get them.',
      notSetUp:
        'Google isn’t set up on this server. Ask your administrator to set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET.',
      notALink:
        'that is not the link of a Google spreadsheet; it begins with https://docs.google.com/spreadsheets/d/',
      endItThere: 'remove Rowport at https://myaccount.google.com/connections',
      linkPattern: '(?:docs|drive)\\.google\\.com|^[\\w-]{30,}$',
      key: null,
    },
    canSeeAll: (scopes) => scopes.some((scope) => scope.endsWith('/auth/spreadsheets')),
    access: google && accessTo(google),
  }
}

function accessTo({ oauth, files, consentOrigin }: GoogleAccess): Connection['access'] {
  return {
    entrance: {
      by: 'consent',
      origin: consentOrigin,
      consentUrl: oauth.consentUrl,
      async exchangeCode(attempt) {
        const grant = await oauth.exchangeCode(attempt)
        if ('problem' in grant) return forOwners(grant)
        const { refreshToken, scopes, subject, email } = grant
        return { token: refreshToken, scopes, subject, label: email }
      },
      problemOf: (error) => forOwners(problemOfConsent(error)),
      pickedIds: (query) => pickedIdsIn(query.get('picked_file_ids')),
    },
    refresh: oauth.refresh,
    revoke: oauth.revoke,
    listSpreadsheets: files.listSpreadsheets,
    listTabs: files.listTabs,
    parsePasted: parsePastedSpreadsheet,
    locate(tab) {
      const { location, source } = locateGoogleTab(tab)
      const { title, tabTitle } = tab
      return { location: JSON.stringify({ ...JSON.parse(location), title, tabTitle }), source }
    },
  }
}

function forOwners({ problem, words }: OAuthProblem) {
  return {
    problem: problem === 'denied' || problem === 'scope_missing' ? problem : ('failed' as const),
    words,
  }
}
