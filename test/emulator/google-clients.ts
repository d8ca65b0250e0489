import type { TestContext } from 'node:test'
import { drive, type drive_v3 } from '@googleapis/drive'
import { sheets, type sheets_v4 } from '@googleapis/sheets'
import { OAuth2Client } from 'google-auth-library'
import { type LocalGoogle, redirectUri, startLocalGoogle } from './harness.ts'

/** Google's own clients, told nothing but another root. */
export interface GoogleClients extends LocalGoogle {
  auth: OAuth2Client
  sheetsApi: sheets_v4.Sheets
  driveApi: drive_v3.Drive
}

function createOAuthClient(url: string): OAuth2Client {
  return new OAuth2Client({
    clientId: 'shop',
    clientSecret: 'any',
    redirectUri,
    forceRefreshOnFailure: true,
    endpoints: {
      oauth2AuthBaseUrl: `${url}/o/oauth2/v2/auth`,
      oauth2TokenUrl: `${url}/token`,
      oauth2RevokeUrl: `${url}/revoke`,
      tokenInfoUrl: `${url}/tokeninfo`,
      oauth2FederatedSignonPemCertsUrl: `${url}/oauth2/v1/certs`,
      oauth2FederatedSignonJwkCertsUrl: `${url}/oauth2/v3/certs`,
    },
  })
}

/** In the hands of ada, with access to all of her Drive. */
export async function startClients(t: TestContext): Promise<GoogleClients> {
  const google = await startLocalGoogle(t, { settings: { autoConsent: {} } })
  return { ...google, ...(await clientsOf(google, 'ada@example.com')) }
}

/** The same local Google, in the hands of somebody else. */
export async function clientsOf(
  google: LocalGoogle,
  user: string,
  scopes?: string[],
): Promise<Pick<GoogleClients, 'auth' | 'sheetsApi' | 'driveApi'>> {
  const auth = createOAuthClient(google.url)
  const { refresh_token } = await google.tokens(user, scopes)
  auth.setCredentials({ refresh_token })
  const options = { auth, rootUrl: `${google.url}/`, retry: false }
  return {
    auth,
    sheetsApi: sheets({ version: 'v4', ...options }),
    driveApi: drive({ version: 'v3', ...options }),
  }
}

export async function createSpreadsheet(
  google: LocalGoogle,
  values: (string | number | boolean)[][] = [],
  more: Record<string, unknown> = {},
): Promise<string> {
  const tabs = [{ title: 'Items', values }]
  const created = { title: 'Shop', owner: 'ada@example.com', tabs, ...more }
  return (await google.control<{ spreadsheetId: string }>('POST', 'spreadsheets', created)).spreadsheetId
}
