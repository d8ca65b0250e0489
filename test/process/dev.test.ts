import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { EventStream } from '../changes/event-stream-client.ts'
import { createVisitor } from '../connect/visitor.ts'
import { projectFolder } from './running.ts'

test('npm run dev: one screen, a link that works, a Google to connect, and nothing left after Ctrl-C', async (t) => {
  const dev = await startDev(t)
  const { screen } = dev
  assert.equal(dev.stderr(), '')
  const [, address = '', token = ''] =
    /(http:\/\/localhost:\d+)\/sign-in-link\?token=([\w-]{43})\n/.exec(screen) ?? []
  const googleUrl = /Google +(http:\/\/127\.0\.0\.1:\d+)\//.exec(screen)?.[1] ?? ''
  const key = /sk_live_\w{32}/.exec(screen)?.[0] ?? ''
  const dataFolder = /Data +(\S+)/.exec(screen)?.[1] ?? ''
  assert.ok(existsSync(join(dataFolder, 'rowport.db')))

  const owner = createVisitor({ port: Number(new URL(address).port) })
  await owner.call('POST', '/sign-in-link', { token })
  const wish = { returnTo: '/connect' }
  const { url: toGoogle } = (await owner.call<{ url: string }>('POST', '/google/connect', wish)).json
  assert.ok(toGoogle.startsWith(`${googleUrl}/o/oauth2/v2/auth?`))
  const consent = await (await fetch(toGoogle)).text()
  for (const person of ['ada@example.com', 'grace@example.com']) assert.ok(consent.includes(person))

  await fetch(`${googleUrl}/_control/settings`, {
    method: 'POST',
    body: JSON.stringify({ autoConsent: { user: 'ada@example.com', pick: true } }),
  })
  const back = new URL((await fetch(toGoogle, { redirect: 'manual' })).headers.get('location') ?? 'none:')
  await owner.get(back.pathname + back.search)
  const list = await owner.call<{ spreadsheetId: string; title: string }[]>('GET', '/google/spreadsheets')
  const shop = list.json.find(({ title }) => title === 'Lamp shop')
  assert.ok(shop, list.text)
  const source = { provider: 'google', spreadsheetId: shop.spreadsheetId, tabId: 0 }
  const made = await owner.call('POST', '/sheets', { slug: 'lamp-shop', access: 'private', source })
  assert.equal(made.status, 201, made.text)
  const curl = /curl -H '(Authorization): (Bearer sk_live_\w+)' (http:\S+)/.exec(screen)
  assert.ok(curl)
  const [, name = '', value = '', url = ''] = curl
  const rows = (await (await fetch(url, { headers: { [name]: value } })).json()) as Record<string, unknown>[]
  assert.deepEqual(rows[0], {
    name: 'Desk lamp',
    category: 'Lighting',
    price: 59.9,
    'in stock': true,
    added: '2026-03-02',
  })

  const [, follow = ''] = /curl -N .* (http:\S+\/changes)\n/.exec(screen) ?? []
  const stream = await EventStream.open(follow, { [name]: value })
  assert.equal(stream.response.statusCode, 200, follow)
  const [, editAt = '', edit = ''] = /curl (http:\S+\/_control\/edit) -d '(.*)'\n/.exec(screen) ?? []
  assert.equal((await fetch(editAt, { method: 'POST', body: edit })).status, 200)
  await stream.untilCount(1, 30_000)
  const [change] = stream.changes
  assert.deepEqual([change.source, change.before.price, change.after.price], ['outside', 59.9, 65])

  assert.equal(await dev.interrupt(), 0)
  await stream.untilEnd()
  assert.ok(!existsSync(dataFolder), 'the data are gone')
  await assert.rejects(fetch(googleUrl), 'so is the local Google')
  assert.ok(!dev.stderr().includes(key))
})

async function startDev(t: TestContext) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [join(projectFolder, 'scripts/dev.ts')], {
    env: { PATH, HOME, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'close')
  let screen = ''
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  for await (const text of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    screen += text
    if (screen.includes('Ctrl+C')) break
  }
  assert.ok(screen.includes('Ctrl+C'), complaints)
  return {
    screen,
    stderr: () => complaints,
    /** As Ctrl-C does; resolves with the exit code. */
    async interrupt(): Promise<unknown> {
      child.kill('SIGINT')
      return (await ended)[0]
    },
  }
}
