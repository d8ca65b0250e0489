import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorkshop } from '../../src/assemble/open-workshop.ts'
import { systemClock } from '../../src/clock.ts'
import { parseConfig } from '../../src/config.ts'
import { createSample, findSampleFile } from '../../src/first-start/sample.ts'
import { times } from '../soak.ts'
import { freshPlace, logged } from './running.ts'

for (let round = 1; round <= times(2, 10); round++) {
  test(`two first starts at once on one data folder: both serve, one sample, one key (round ${round})`, async (t) => {
    const place = await freshPlace(t)
    const servers = await Promise.all([place.start(), place.start()])

    const keys = servers.flatMap(({ screen }) => /API key +(sk_live_\w+)/.exec(screen)?.[1] ?? [])
    assert.equal(keys.length, 1, 'one of them shows the key')
    for (const { url } of servers) {
      const rows = await fetch(`${url}/api/sheets/demo/products`, {
        headers: { Authorization: `Bearer ${keys[0]}` },
      })
      assert.equal(rows.status, 200)
      assert.equal(rows.headers.get('x-total-count'), '4')
    }
    const made = servers.flatMap(({ stderr }) => logged(stderr(), 'store_made'))
    assert.equal(made.length, 1, 'one of them made the store')
  })
}

test('two that both found the store empty, to the moment: one makes the key, the other goes on without', async (t) => {
  const { dataFolder } = await freshPlace(t)
  const config = parseConfig({ ROWPORT_DATA: dataFolder }, false)
  assert.ok(!('problems' in config))
  const one = await openWorkshop(config, systemClock, () => {})
  const other = await openWorkshop(config, systemClock, () => {})
  try {
    const keys = await Promise.all([createSample(one, dataFolder), createSample(other, dataFolder)])
    assert.equal(keys.filter((key) => key !== null).length, 1)
    assert.equal(await one.store.countAccounts(), 1)
    assert.equal(await findSampleFile(one), await findSampleFile(other))
  } finally {
    await one.close()
    await other.close()
  }
})

test('four keys made by four processes at once, while the server runs: all of them open the sheet', async (t) => {
  const place = await freshPlace(t)
  const server = await place.start()
  const names = Array.from({ length: 4 }, (_, at) => `key ${at}`)
  const made = await Promise.all(
    names.map((name) => place.rowport(['key', 'create', 'demo', '--name', name, '--json'])),
  )
  for (const { code, stdout, stderr } of made) {
    assert.equal(code, 0, stderr)
    const { key } = JSON.parse(stdout) as { key: string }
    const rows = await fetch(`${server.url}/api/sheets/demo/products`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    assert.equal(rows.status, 200)
  }
})
