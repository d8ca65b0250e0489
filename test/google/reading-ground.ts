import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createGoogle, type Google, type GoogleParts } from '../../src/providers/google/google.ts'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import type { Observation } from '../../src/reporting/observe.ts'
import { createOwnValues } from '../../src/shared-state/registers/own-values.fixture.ts'
import type { AccountPlace } from '../../src/sheets/provider.ts'
import { createDecoding } from '../../src/sheets/reading/decoding.ts'
import type { Snapshot } from '../../src/sheets/rows/snapshot.ts'
import { driveFile, type LocalGoogle, startLocalGoogle } from '../emulator/harness.ts'
import { createMemoryCredentials, type MemoryCredentials, sealing } from './memory-credentials.ts'

export const owner = 'ada@example.com'

/** A local Google, our side of it, and an owner who has connected. */
export interface ReadingGround {
  local: LocalGoogle
  google: Google
  credentials: MemoryCredentials
  credentialId: string
  seen: Observation[]
  newSpreadsheet(values: unknown[][], title?: string): Promise<{ spreadsheetId: string; place: AccountPlace }>
  /** The rows that a client would get. */
  rows(place: AccountPlace, values?: 'typed' | 'formatted'): Promise<unknown[]>
  /** Calls of Sheets since the last time this was asked. */
  countCalls(): Promise<number>
}

export async function startReadingGround(
  t: TestContext,
  parts: Partial<GoogleParts> = {},
): Promise<ReadingGround> {
  const local = await startLocalGoogle(t)
  const credentials = createMemoryCredentials()
  const { refresh_token } = await local.tokens(owner, [driveFile])
  const credentialId = credentials.connect({ subject: owner, refreshToken: refresh_token, scopes: driveFile })
  const seen: Observation[] = []
  const google = createGoogle({
    settings: { client: { clientId: 'shop', clientSecret: 'any' }, endpoint: local.url, scope: 'drive.file' },
    store: credentials,
    sealing,
    share: createOwnValues(local.clock),
    clock: local.clock,
    observe: (observation) => seen.push(observation),
    ...parts,
  })
  const decoding = createDecoding({
    observe: () => {},
    shares: { decoding_at_once: 2, decoding_waiting: 1_000 },
  })
  t.after(async () => {
    await google.close()
    await decoding.close()
  })
  let counted = 0

  return {
    local,
    google,
    credentials,
    credentialId,
    seen,
    async newSpreadsheet(values, title = 'Shop') {
      const tabs = [{ title: 'Items', values }]
      const { spreadsheetId } = await local.control<{ spreadsheetId: string }>('POST', 'spreadsheets', {
        title,
        owner,
        tabs,
      })
      const { tabs: found } = await google.files.listTabs(credentialId, spreadsheetId)
      const { location } = locateGoogleTab({ spreadsheetId, tabId: found[0]?.tabId ?? -1 })
      return { spreadsheetId, place: { accountId: 'acc_ada', location, credentialId } }
    },
    async rows(place, values = 'typed') {
      const wish = { values, knownVersion: null }
      const decoded = await decoding.decode(place.accountId, (turn) =>
        google.provider.fetch(place, wish, turn),
      )
      assert.ok(decoded !== 'unchanged')
      return rowsIn(decoded.snapshot)
    },
    async countCalls() {
      const { calls } = await local.control<{ calls: { service: string }[] }>('GET', 'calls')
      const all = calls.filter(({ service }) => service === 'sheets').length
      const since = all - counted
      counted = all
      return since
    },
  }
}

export function rowsIn({ listJson }: Snapshot): unknown[] {
  return JSON.parse(Buffer.from(listJson).toString()) as unknown[]
}
