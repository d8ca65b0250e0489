import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { quotaExceeded } from '../../emulator/front-end-errors.ts'
import { locateGoogleTab } from '../../src/sheets/google/google-location.ts'
import { startGoogleProcess } from '../google/google-process.ts'
import { done } from '../harness.ts'
import { connectOwner, googleClient, owner } from '../writing/google-ground.ts'
import { skipCluster } from './cluster.ts'
import { startProcesses } from './instances.ts'

/** A closure of one second, a call, and the time that a crowded machine takes for both. */
const enoughMs = 5_000

test('an instance is killed in the middle of a call to Google, and Google refuses the next: the other goes on at once', {
  skip: skipCluster,
}, async (t) => {
  const { google, start, ask } = await startOnGoogle(t)
  let [killed, left] = await Promise.all([start(), start()])
  for (const { url } of [killed, left]) assert.equal((await ask(url, 'GET')).status, 200)
  const figures: string[] = []
  for (const [at, per] of (['user', 'project'] as const).entries()) {
    await google.control('POST', 'faults', { match: { kind: 'read' }, kind: 'hang' })
    ask(killed.url, 'GET').catch(() => {})
    while ((await struck()) < 2 * at + 1) await sleep(5)
    killed.child.kill('SIGKILL')
    await killed.ended
    const body = quotaExceeded({ kind: 'read', per, limit: 60, projectNumber: '1' })
    await google.control('POST', 'faults', { match: { kind: 'read' }, kind: 'answer', status: 429, body })
    const begunMs = performance.now()
    const read = await ask(left.url, 'GET')
    const readMs = performance.now() - begunMs
    const written = await ask(left.url, 'PUT', { name: per })
    const writtenMs = performance.now() - begunMs
    assert.equal(await struck(), 2 * at + 2, 'it was refused')
    assert.deepEqual([read.status, written.status], [200, 200])
    figures.push(
      `${per}: read after ${(readMs / 1_000).toFixed(1)} s, written after ${(writtenMs / 1_000).toFixed(1)} s`,
    )
    assert.ok(writtenMs < enoughMs, figures.join('; '))
    killed = left
    left = await start()
    assert.equal((await ask(left.url, 'GET')).status, 200)
  }
  process.stdout.write(`kill -9 in mid-call and one 429 for the … ${figures.join('; ')}\n`)

  /** Of all faults so far, how many calls were struck. */
  async function struck(): Promise<number> {
    const { faults } = await google.control<{ faults: { struck: number }[] }>('GET', 'faults')
    return faults.reduce((sum, fault) => sum + fault.struck, 0)
  }
})

async function startOnGoogle(t: TestContext) {
  const google = await startGoogleProcess(t)
  const { spreadsheetId, refreshToken } = await google.newSpreadsheet(owner, [['name'], ['first']])
  const { start, workshop, apiKey } = await startProcesses(t, {
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

  /** A read that wants rows of now, or a change of the first row. */
  async function ask(url: string, method: 'GET' | 'PUT', body?: object) {
    const answer = await fetch(`${url}/api/sheets/acme/items${method === 'PUT' ? '/2' : ''}`, {
      method,
      headers: { Authorization: `Bearer ${apiKey}`, 'Cache-Control': 'no-cache' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  }
  return { google, start, ask }
}
