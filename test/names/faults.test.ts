import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeXlsx } from 'hucre/xlsx'
import { seededRandom } from '../../emulator/seeded-random.ts'
import { openWorkshop } from '../../src/assemble/open-workshop.ts'
import { systemClock } from '../../src/clock.ts'
import { parseConfig } from '../../src/config.ts'
import { locateFile } from '../../src/providers/file/file-location.ts'
import { done } from '../harness.ts'
import { freshPlace, type RunningServer } from '../process/running.ts'
import { patienceMs, times } from '../soak.ts'
import { startGoogleGround } from '../writing/google-ground.ts'
import { judgeRows } from '../writing/keyed-client.ts'
import { type AskSheet, createNamingClient, type NamingClient } from './naming-client.ts'

const seed = 17
const kills = times(2, 60)
const header = ['id', 'n']

test('Google loses a fifth of its answers and is late with a tenth: writes by key are done once, on their own rows', {
  timeout: patienceMs,
}, async (t) => {
  const { local, newSheet, rowport } = await startGoogleGround(t, { speed: 5 })
  const sheet = await newSheet('orders', [header])
  const person = ['person', 7]
  await sheet.batchUpdate({
    appendCells: { sheetId: 0, fields: 'userEnteredValue', rows: [valuesOf(person)] },
  })
  done(await rowport.workshop.sheets.change('acme', 'orders', { keyColumn: 'id' }))
  const faults = [
    { kind: 'resetAfterApply', rate: 0.14, seed },
    { kind: '503AfterApply', rate: 0.06, seed: seed + 1 },
    { kind: 'applyLate', rate: 0.05, delayMs: 40, seed: seed + 2 },
    { kind: 'applyLate', rate: 0.05, beforeCall: 2, seed: seed + 3 },
  ]
  for (const fault of faults) await local.control('POST', 'faults', { match: ':batchUpdate', ...fault })
  const clients = Array.from({ length: 6 }, (_, at) =>
    createNamingClient(sheet.ask, `c${at}`, seededRandom(seed * 100 + at)),
  )
  await Promise.all(
    clients.map((client) => actUntil(client, () => client.counts.operations >= times(12, 300))),
  )
  await local.control('DELETE', 'faults')
  const { calls } = await local.control<{ calls: { fault: string | null }[] }>('GET', 'calls')
  judge(t, await sheet.cells(), clients, { others: 1, troubles: calls.filter(({ fault }) => fault).length })
})

for (const kind of ['csv', 'xlsx'] as const)
  test(`${kind}: kill -9 again and again in the middle of writes by key: each is done once, on its own rows`, {
    timeout: patienceMs,
  }, async (t) => {
    const { place, apiKey } = await startPlace(t, kind)
    let server: RunningServer | null = await place.start()
    const ask: AskSheet = async (method, path, { body, key } = {}) => {
      if (!server) throw new Error('There is no server')
      const answer = await fetch(`${server.url}/api/sheets/acme/s${path}`, {
        method,
        headers: { Authorization: `Bearer ${apiKey}`, ...(key !== undefined && { 'Idempotency-Key': key }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: answer.status, headers: answer.headers, body: await answer.json() }
    }
    const clients = Array.from({ length: 6 }, (_, at) =>
      createNamingClient(ask, `c${at}`, seededRandom(seed * 100 + at)),
    )
    let isOver = false
    const working = Promise.all(clients.map((client) => actUntil(client, () => isOver)))
    const random = seededRandom(seed)
    const sum = () => clients.reduce((total, { counts }) => total + counts.operations, 0)
    for (let kill = 1; kill <= kills; kill++) {
      while (sum() < kill * 15) await Promise.race([sleep(2), working])
      await sleep(random() * 50)
      const victim: RunningServer = server ?? assert.fail()
      server = null
      victim.child.kill('SIGKILL')
      await victim.ended
      server = await place.start()
    }
    isOver = true
    await working
    const rows = (await ask('GET', '')).body as { id: string; n: number }[]
    const troubles = clients.reduce((total, { counts }) => total + counts.uncertain, 0)
    judge(t, [header, ...rows.map(({ id, n }) => [id, n])], clients, { others: 0, troubles })
  })

async function actUntil(client: NamingClient, isEnough: () => boolean): Promise<void> {
  while (!isEnough()) await client.act()
}

function judge(
  t: TestContext,
  cells: readonly (readonly unknown[])[],
  clients: readonly NamingClient[],
  { others, troubles }: { others: number; troubles: number },
): void {
  const sum = (name: keyof NamingClient['counts']) =>
    clients.reduce((total, { counts }) => total + counts[name], 0)
  const verdict = judgeRows(cells, clients)
  t.diagnostic(
    `${sum('operations')} writes by key, ${troubles} lost or late answers, ${sum('replayed')} replayed: ${JSON.stringify(verdict)}`,
  )
  assert.deepEqual(verdict, { lost: 0, doubled: 0, wrong: 0, strange: others })
  assert.ok(troubles > 0, 'something went wrong on the way')
}

function valuesOf([id, n]: readonly unknown[]) {
  return { values: [{ userEnteredValue: { stringValue: id } }, { userEnteredValue: { numberValue: n } }] }
}

async function startPlace(t: TestContext, kind: 'csv' | 'xlsx') {
  const place = await freshPlace(t)
  const config = parseConfig({ ROWPORT_DATA: place.dataFolder }, false)
  assert.ok(!('problems' in config))
  const workshop = await openWorkshop(config, systemClock, () => {})
  t.after(() => workshop.close())
  const { accounts, sheets, keys } = workshop
  const file = join(place.folder, `s.${kind}`)
  const rows = [header]
  const bytes = kind === 'csv' ? 'id,n\n' : await writeXlsx({ sheets: [{ name: 'Sheet1', rows }] })
  await writeFile(file, bytes)
  done(await accounts.create('acme', 'enterprise'))
  const asked = { accountSlug: 'acme', sheetSlug: 's', access: 'private' as const, provider: 'file' }
  done(await sheets.connect({ ...asked, ...locateFile(file, null) }))
  done(await sheets.change('acme', 's', { keyColumn: 'id' }))
  const key = { accountSlug: 'acme', sheetSlug: null, name: 'k', mode: 'live', scope: 'read-write' } as const
  return { place, apiKey: done(await keys.create(key)).value }
}
