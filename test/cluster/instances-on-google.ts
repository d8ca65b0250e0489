import type { TestContext } from 'node:test'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import { type GoogleProcess, startGoogleProcess } from '../google/google-process.ts'
import { done } from '../harness.ts'
import { connectOwner, googleClient, owner } from '../writing/google-ground.ts'
import { type Processes, startProcesses } from './instances.ts'

/** Instances as processes of their own, and one spreadsheet at a local Google behind them. */
export interface InstancesOnGoogle {
  google: GoogleProcess
  spreadsheetId: string
  start: Processes['start']
  servers: Pick<Processes, 'postgres' | 'redis' | 'apiKey'>
  /** A read that wants rows of now, a new row, or a change of the first row. */
  ask(url: string, method: 'GET' | 'POST' | 'PUT', wish?: { body?: object; key?: string }): Promise<Asked>
}

interface Asked {
  status: number
  text: string
}

export async function startOnGoogle(
  t: TestContext,
  rows: unknown[][] = [['name'], ['first']],
): Promise<InstancesOnGoogle> {
  const google = await startGoogleProcess(t)
  const { spreadsheetId, refreshToken } = await google.newSpreadsheet(owner, rows)
  const { start, workshop, apiKey, postgres, redis } = await startProcesses(t, {
    GOOGLE_CLIENT_ID: googleClient.clientId,
    GOOGLE_CLIENT_SECRET: googleClient.clientSecret,
    GOOGLE_SCOPE: googleClient.scope,
    GOOGLE_ENDPOINT: google.url,
  })
  const account = done(await workshop.accounts.find('acme'))
  const credentialId = await connectOwner(workshop.store, workshop.sealing, account.id, refreshToken)
  const tab = locateGoogleTab({ spreadsheetId, tabId: 0 })
  const asked = { accountSlug: 'acme', sheetSlug: 'items', access: 'private', provider: 'google' } as const
  done(await workshop.sheets.connect({ ...asked, credentialId, ...tab }))
  return {
    google,
    spreadsheetId,
    start,
    servers: { postgres, redis, apiKey },
    async ask(url, method, { body, key } = {}) {
      const answer = await fetch(`${url}/api/sheets/acme/items${method === 'PUT' ? '/2' : ''}`, {
        method,
        headers: {
          Authorization: `Bearer ${apiKey}`,
          'Cache-Control': 'no-cache',
          ...(key === undefined ? {} : { 'Idempotency-Key': key }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: answer.status, text: await answer.text() }
    },
  }
}
