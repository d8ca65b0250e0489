import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { bearer, done, startRowport } from '../harness.ts'
import { findProgram } from '../servers/find-program.ts'
import { freePort } from '../servers/free-port.ts'
import { until } from './receiver.ts'

const python = findProgram(['python3'])
const skip = canRun() ? false : 'Python 3.9 or later is not on this machine'

test('the Python receiver in docs/webhooks.md takes what is signed, and nothing else', {
  skip,
}, async (t) => {
  const rowport = await startRowport(t, { settings: { webhookNetworks: ['127.0.0.0/8'] } })
  const sheet = await rowport.connectFile('stock', 'stock.csv', 'name\nLamp\n')
  const key = await rowport.createKey()
  await rowport.get(sheet.formA, bearer(key))
  const url = `http://127.0.0.1:${await freePort()}/hook`
  const account = done(await rowport.workshop.accounts.find('acme'))
  const wish = { account, sheetSlug: 'stock', url, kinds: null, columns: null }
  const { secret } = done(await rowport.workshop.webhooks.add(wish))
  const receiver = await runSample(t, secret, new URL(url).port, rowport.clock.nowMs())

  const body = JSON.stringify({ name: 'Tisch, "groß"' })
  const added = await fetch(rowport.url + sheet.formA, { method: 'POST', headers: bearer(key), body })
  assert.equal(added.status, 201)
  // With its end: what Python prints may come in two pieces.
  const line = /^rows\.changed (.*)\n/m
  await until('it heard', () => line.test(receiver.printed()), 20_000)
  const [, data = ''] = line.exec(receiver.printed()) ?? []
  assert.deepEqual(JSON.parse(data).changes[0].after, { name: 'Tisch, "groß"' })

  const headers = {
    'webhook-id': 'wh_1',
    'webhook-timestamp': String(Math.floor(rowport.clock.nowMs() / 1_000)),
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
  }
  const forged = await fetch(url, { method: 'POST', headers, body: '{"type":"forged","data":{}}' })
  assert.equal(forged.status, 400)
  assert.ok(!receiver.printed().includes('forged'))
})

function canRun(): boolean {
  if (!python) return false
  try {
    execFileSync(python, ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))'])
    return true
  } catch {
    return false
  }
}

async function runSample(t: TestContext, secret: string, port: string, nowMs: number) {
  const page = await readFile(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8')
  const [, sample = ''] = /^```python\n(.*?)^```$/ms.exec(page) ?? []
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: port }
  // It has the time of the test.
  const clock = `import time\ntime.time = lambda: ${Math.floor(nowMs / 1_000)}\n`
  const child = spawn(python ?? '', ['-c', clock + sample], { env })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (some) => {
      text += some
    })
  const isThere = () =>
    fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).then(
      ({ status }) => status === 400,
      () => false,
    )
  await until('it listens', isThere, 20_000)
  return { printed: () => text }
}
