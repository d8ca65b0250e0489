import type { TestContext } from 'node:test'
import { createGoogle, type Google } from '../../src/providers/google/google.ts'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import type { BudgetLimits } from '../../src/providers/remote/rations/budget.ts'
import type { Observation } from '../../src/reporting/observe.ts'
import { createOwnValues } from '../../src/shared-state/registers/own-values.fixture.ts'
import type { AccountPlace } from '../../src/sheets/provider.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { type LocalGoogle, startLocalGoogle } from '../emulator/harness.ts'
import { createMemoryCredentials, sealing } from './memory-credentials.ts'

/** A provider, a local Google behind it, and an owner with spreadsheets. */
export interface WritingGround {
  local: LocalGoogle
  google: Google
  seen: Observation[]
  /** An owner's bearer token, for a look past Rowport. */
  token: string
  newTab(rows: readonly (readonly Cell[])[], title?: string): Promise<Tab>
}

export interface Tab {
  place: AccountPlace
  spreadsheetId: string
  /** `POST …:batchUpdate` in the owner's name. */
  batchUpdate(...requests: object[]): Promise<void>
  /** All rows as they are, formulas computed, dates as numbers. */
  values(): Promise<unknown[][]>
  markers(): Promise<{ metadataId: number; metadataValue: string }[]>
}

export const plenty: BudgetLimits = {
  perUser: { read: 1e6, write: 1e6 },
  perProject: { read: 1e6, write: 1e6 },
}

const owner = 'ada@example.com'
const scope = 'https://www.googleapis.com/auth/spreadsheets'

export async function startWritingGround(
  t: TestContext,
  { rations = plenty, writeMs = 25_000, silenceMs = 10_000 } = {},
): Promise<WritingGround> {
  const local = await startLocalGoogle(t)
  const credentials = createMemoryCredentials()
  const { refresh_token, access_token: token } = await local.tokens(owner, [scope])
  const credentialId = credentials.connect({ subject: owner, refreshToken: refresh_token, scopes: scope })
  const seen: Observation[] = []
  const google = createGoogle({
    settings: {
      client: { clientId: 'client', clientSecret: 'secret' },
      endpoint: local.url,
      scope: 'spreadsheets',
    },
    store: credentials,
    share: createOwnValues(local.clock),
    sealing,
    clock: local.clock,
    observe: (observation) => void seen.push(observation),
    rations,
    callLimits: { readMs: 15_000, writeMs, attempts: 3, firstBackoffMs: 5, maxBackoffMs: 20 },
    transportLimits: { silenceMs, maxBodyBytes: 64 * 1024 * 1024 },
  })
  t.after(() => google.close())

  return {
    local,
    google,
    seen,
    token,
    async newTab(rows, title = 'Items') {
      const made = await local.control('POST', 'spreadsheets', { title: 'Shop', owner, tabs: [{ title }] })
      const spreadsheetId = String(made.spreadsheetId)
      const root = `/v4/spreadsheets/${spreadsheetId}`
      const call = async (method: string, path: string, body?: unknown) => {
        const answer = await local.api(token, method, root + path, body)
        const text = await answer.text()
        if (!answer.ok) throw new Error(text)
        return JSON.parse(text) as Record<string, unknown>
      }
      const { sheets } = await call('GET', '')
      const tabId = (sheets as { properties: { sheetId: number } }[])[0]?.properties.sheetId ?? 0
      // As typed values: what a test calls text must be text.
      if (rows.length > 0) {
        const values = rows.map((row) => row.map((cell) => cell ?? ''))
        const range = encodeURIComponent(`'${title.replaceAll("'", "''")}'!A1`)
        await call('PUT', `/values/${range}?valueInputOption=RAW`, { values })
      }
      return {
        spreadsheetId,
        place: {
          accountId: 'acc_ada',
          location: locateGoogleTab({ spreadsheetId, tabId }).location,
          credentialId,
        },
        async batchUpdate(...requests) {
          await call('POST', ':batchUpdate', { requests })
        },
        async values() {
          const body = {
            dataFilters: [{ gridRange: { sheetId: tabId } }],
            valueRenderOption: 'UNFORMATTED_VALUE',
          }
          const { valueRanges } = await call('POST', '/values:batchGetByDataFilter', body)
          return (valueRanges as { valueRange: { values?: unknown[][] } }[])[0]?.valueRange.values ?? []
        },
        async markers() {
          const lookup = { developerMetadataLookup: { metadataKey: 'rowport' } }
          const found = await call('POST', '/developerMetadata:search', { dataFilters: [lookup] })
          return ((found.matchedDeveloperMetadata ?? []) as { developerMetadata: never }[]).map(
            ({ developerMetadata }) => developerMetadata,
          )
        },
      }
    },
  }
}
