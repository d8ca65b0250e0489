import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { formCommands } from '../../src/commands/form-commands.ts'
import { Problem } from '../../src/management/problem.ts'
import { locateFile } from '../../src/providers/file/file-location.ts'
import type { FormField } from '../../src/store/forms/forms.ts'
import { done, type Rowport, startRowport } from '../harness.ts'
import { type Answering, says, startCaptchaProvider } from '../servers/captcha-provider.ts'

const fields: FormField[] = [
  { column: 'name', label: 'Name', help: '', kind: 'text', isRequired: true, choices: [] },
]
const captcha = { provider: 'turnstile', siteKey: 'site-1', secret: 'secret-1' } as const
const asJson = { Accept: 'application/json' }

async function withCaptcha(t: TestContext, more: Record<string, unknown> = {}, answerWithinMs = 300) {
  const provider = await startCaptchaProvider(t)
  const settings = { captcha: { endpoint: provider.url, answerWithinMs } }
  const rowport = await startRowport(t, { settings })
  const sheet = await rowport.connectFile('guests', 'guests.csv', 'name\nFirst\n')
  const { forms, accounts } = rowport.workshop
  const account = done(await accounts.find('acme'))
  const wish = { account, sheetSlug: 'guests', name: 'Party', settings: { fields, captcha, ...more } }
  const form = done(await forms.create(wish))
  const rows = async () => (await readFile(sheet.path, 'utf8')).trimEnd().split('\n').slice(2)
  return { provider, rowport, form, rows, path: `/f/${form.id}` }
}

function post(
  rowport: Rowport,
  path: string,
  entries: Record<string, string>,
  headers: Record<string, string> = { Accept: 'text/html' },
) {
  return fetch(rowport.url + path, { method: 'POST', body: new URLSearchParams(entries), headers })
}

async function tokenOf(rowport: Rowport, path: string): Promise<string> {
  return /name="_token" value="([^"]+)"/.exec(await (await rowport.get(path)).text())?.[1] ?? ''
}

test('a page with a captcha shows it, lets in its provider and nobody else, and an entry is checked once', async (t) => {
  const { provider, rowport, path, rows, form } = await withCaptcha(t)
  const page = await rowport.get(path)
  const html = await page.text()
  assert.ok(html.includes('<div class="cf-turnstile" data-sitekey="site-1"></div>'), html)
  assert.ok(html.includes('<script src="https://challenges.cloudflare.com/turnstile/v0/api.js"'))
  const policy = page.headers.get('content-security-policy') ?? ''
  const host = 'https://challenges.cloudflare.com'
  assert.ok(policy.includes(`; script-src ${host}; frame-src ${host}; form-action 'self';`), policy)
  assert.equal(page.headers.get('referrer-policy'), 'strict-origin')
  const described = (await (await rowport.get(path, asJson)).json()) as { captcha: object }
  assert.deepEqual(described.captcha, {
    ...{ provider: 'turnstile', site_key: 'site-1', field: 'cf-turnstile-response' },
  })

  const _token = /name="_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
  const entry = { name: 'Ann', _token, 'cf-turnstile-response': 'passed' }
  // As the providers have it: a response is good once.
  const used = new Set<string>()
  provider.answer = (response, { body: { response: given = '' } }) => {
    const isNew = !used.has(given)
    used.add(given)
    setTimeout(
      () => says({ success: isNew, 'error-codes': isNew ? [] : ['timeout-or-duplicate'] })(response),
      50,
    )
  }
  const clicks = await Promise.all([1, 2, 3].map(() => post(rowport, path, entry)))
  assert.deepEqual(
    clicks.map(({ status }) => status),
    [200, 200, 200],
  )
  rowport.clock.advanceMs(3_600_000)
  assert.equal((await post(rowport, path, entry)).status, 200, 'a reload an hour later')
  assert.deepEqual(await rows(), ['Ann'])
  assert.equal(provider.asked.length, 1)
  assert.equal(provider.asked[0]?.path, '/turnstile/v0/siteverify')
  const { idempotency_key, ...asked } = provider.asked[0]?.body ?? {}
  assert.deepEqual(asked, { secret: 'secret-1', response: 'passed' })
  assert.match(idempotency_key ?? '', /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
  assert.equal((await post(rowport, path, { ...entry, name: 'Bob' })).status, 422, 'for another entry')
  assert.deepEqual(await rows(), ['Ann'])
  assert.deepEqual(done(await rowport.workshop.forms.entries(form.id)), [])
})

test('whatever the provider does, nothing is added that it did not pass, and the entries stay', async (t) => {
  const { provider, rowport, path, rows } = await withCaptcha(t)
  const failing: [string, Answering | null, number, string][] = [
    ['false', says({ success: false, 'error-codes': ['invalid-input-response'] }), 422, 'captcha_failed'],
    ['500', says({ success: true }, 500), 503, 'captcha_unavailable'],
    ['a redirect', says({ success: true }, 307), 503, 'captcha_unavailable'],
    ['garbage', says('<html>'), 503, 'captcha_unavailable'],
    ['another shape', says({ success: 'true' }), 503, 'captcha_unavailable'],
    ['a list', says([true]), 503, 'captcha_unavailable'],
    ['null', says('null'), 503, 'captcha_unavailable'],
    [
      'a wrong secret',
      says({ success: false, 'error-codes': ['invalid-input-secret'] }),
      503,
      'captcha_unavailable',
    ],
    ['too much', says(' '.repeat(200_000)), 503, 'captcha_unavailable'],
    ['hangs', () => {}, 503, 'captcha_unavailable'],
    ['breaks off', (response) => void response.socket?.destroy(), 503, 'captcha_unavailable'],
    ['is not asked', null, 422, 'captcha_failed'],
  ]
  const _token = await tokenOf(rowport, path)
  for (const [what, answer, status, code] of failing) {
    if (answer) provider.answer = answer
    const entry = { name: `"${what}"`, _token, ...(answer && { 'cf-turnstile-response': what }) }
    rowport.clock.advanceMs(60_000)
    const page = await post(rowport, path, entry)
    assert.equal(page.status, status, what)
    const html = await page.text()
    assert.ok(html.includes(`value="&quot;${what}&quot;"`) && html.includes('cf-turnstile'), what)
    const json = await fetch(rowport.url + path, {
      method: 'POST',
      headers: { ...asJson, 'Content-Type': 'application/json' },
      body: JSON.stringify(entry),
    })
    assert.deepEqual([json.status, ((await json.json()) as { code: string }).code], [status, code], what)
  }
  assert.deepEqual(await rows(), [])
  // The same entry, once the provider is back.
  provider.answer = says({ success: true })
  assert.equal(
    (await post(rowport, path, { name: '"hangs"', _token, 'cf-turnstile-response': 'x' })).status,
    200,
  )
  assert.equal((await rows()).length, 1)
})

test('a provider that is gone closes the form, and opens it again', async (t) => {
  const { rowport, path, rows, form } = await withCaptcha(t)
  const away = await startRowport(t, {
    ...{ beside: rowport, settings: { captcha: { endpoint: 'http://127.0.0.1:9', answerWithinMs: 300 } } },
  })
  const entry = { name: 'Ann', 'cf-turnstile-response': 'x' }
  assert.equal((await post(away, path, entry)).status, 503)
  assert.deepEqual(await rows(), [])
  assert.equal((await post(rowport, path, entry)).status, 200)
  assert.deepEqual(
    [await rows(), form.settings.captcha],
    [['Ann'], { provider: 'turnstile', siteKey: 'site-1' }],
  )
})

test('what looks like spam is held only when the captcha was passed, and mistakes spend no response', async (t) => {
  const { provider, rowport, path, form } = await withCaptcha(t, { honeypot: 'website' })
  const { forms } = rowport.workshop
  const _token = await tokenOf(rowport, path)
  assert.equal((await post(rowport, path, { name: '', _token, 'cf-turnstile-response': 'a' })).status, 422)
  assert.equal(provider.asked.length, 0)
  provider.answer = says({ success: false })
  const bot = { name: 'Bot', website: 'x', _token, 'cf-turnstile-response': 'b' }
  assert.equal((await post(rowport, path, bot)).status, 422)
  assert.deepEqual(done(await forms.entries(form.id)), [])
  provider.answer = says({ success: true })
  await Promise.all([1, 2].map(() => post(rowport, path, bot)))
  assert.equal(done(await forms.entries(form.id)).length, 1)
  assert.equal(provider.asked.length, 2)
})

test('hCaptcha is asked in its own way; a captcha is changed and taken away, by command too, and its secret never shown', async (t) => {
  const { provider, rowport, path, form, rows } = await withCaptcha(t)
  const { forms } = rowport.workshop
  const change = (wish: object) => forms.change(form, { name: 'Party', settings: { fields, ...wish } })
  for (const [wish, field] of [
    [{ captcha: { provider: 'hcaptcha', siteKey: 'site-1' } }, 'captchaSecret'],
    [{ captcha: { provider: 'turnstile', siteKey: 'site-2' } }, 'captchaSecret'],
    [{ captcha: { ...captcha, secret: 'two\nlines' } }, 'captchaSecret'],
    [{ captcha: { ...captcha, siteKey: '"><script>' } }, 'captchaSiteKey'],
  ] as const) {
    const refused = await change(wish)
    assert.ok(refused instanceof Problem && refused.facts.field === field, JSON.stringify(wish))
  }
  const kept = done(await change({ captcha: { provider: 'turnstile', siteKey: 'site-1' } }))
  assert.deepEqual(kept.captchaSecret, form.captchaSecret)

  const run = async (word: string, target: string, options: Record<string, string> = {}) => {
    const command = formCommands.find(({ words }) => words[1] === word)
    const outcome = await command?.run(rowport.workshop, [target], options)
    assert.ok(outcome && !(outcome instanceof Problem), JSON.stringify(outcome))
    return outcome
  }
  const file = join(rowport.folder, 'secret.txt')
  await writeFile(file, 'hush-hush\n')
  const told = await run('update', form.id, {
    ...{ captcha: 'hcaptcha:site-2', 'captcha-secret-file': file, thanks: 'Bye' },
  })
  const shown = JSON.stringify([told, await run('list', 'acme')])
  assert.ok(shown.includes('"site_key":"site-2"') && !/hush|secret-1/.test(shown), shown)
  const page = await rowport.get(path)
  const policy = page.headers.get('content-security-policy') ?? ''
  const hosts = 'https://hcaptcha.com https://*.hcaptcha.com'
  assert.ok(policy.includes(`script-src ${hosts}; frame-src ${hosts}; connect-src ${hosts};`), policy)
  assert.match(policy, /style-src 'sha256-[^']+' https:\/\/hcaptcha\.com https:\/\/\*\.hcaptcha\.com;/)
  const html = await page.text()
  assert.ok(html.includes('class="h-captcha" data-sitekey="site-2"') && !/hush/.test(html))
  const passed = { 'h-captcha-response': 'r', 'g-recaptcha-response': 'r' }
  assert.equal((await post(rowport, path, { name: 'Ann', ...passed })).status, 200)
  assert.deepEqual(provider.asked, [
    { path: '/siteverify', body: { secret: 'hush-hush', response: 'r', sitekey: 'site-2' } },
  ])

  await run('update', form.id, { captcha: 'none' })
  const without = await rowport.get(path)
  assert.ok(!/hcaptcha/.test(without.headers.get('content-security-policy') ?? ''))
  assert.ok(!(await without.text()).includes('<script'))
  assert.equal(
    (await post(rowport, path, { name: 'Bob', ...passed })).status,
    200,
    'from a page that still has it',
  )
  assert.deepEqual(await rows(), ['Ann', 'Bob'])
  assert.equal((await rowport.workshop.store.findForm(form.id))?.captchaSecret, null)
  assert.equal((await rowport.workshop.store.findForm(form.id))?.settings.thanks, 'Bye')
})

test("a flood of captchas at one account's form keeps no visitor of another's from being checked", async (t) => {
  const { provider, rowport, path } = await withCaptcha(
    t,
    { entriesPerMinute: 1_000, entriesPerHour: 1_000 },
    20_000,
  )
  const { forms, accounts } = rowport.workshop
  done(await accounts.create('other', 'pro'))
  const file = join(rowport.folder, 'others.csv')
  await writeFile(file, 'name\nFirst\n')
  const place = { provider: 'file', ...locateFile(file, null) }
  const wish = { accountSlug: 'other', sheetSlug: 'guests', access: 'private', ...place } as const
  done(await rowport.workshop.sheets.connect(wish))
  const account = done(await accounts.find('other'))
  const other = done(
    await forms.create({ account, sheetSlug: 'guests', name: 'Calm', settings: { fields, captcha } }),
  )
  const held: ServerResponse[] = []
  provider.answer = (response, { body }) =>
    body.response === 'mine' ? says({ success: true })(response) : void held.push(response)
  const _token = await tokenOf(rowport, path)
  const flood = Array.from({ length: 250 }, (_, n) =>
    post(rowport, path, { name: `${n}`, _token, 'cf-turnstile-response': `flood ${n}` }),
  )
  while (held.length < 20) await sleep(5)
  const calm = { name: 'Calm', _token: await tokenOf(rowport, `/f/${other.id}`) }
  const answer = await post(rowport, `/f/${other.id}`, { ...calm, 'cf-turnstile-response': 'mine' })
  assert.equal(answer.status, 200)
  const told: number[] = []
  for (const sent of flood) void sent.then(({ status }) => told.push(status))
  while (told.length < flood.length - 20) await sleep(20)
  assert.equal(held.length, 20, 'the share of the account that is flooded')
  assert.ok(told.every((status) => status === 503))
  for (const response of held) says({ success: true })(response)
  await Promise.all(flood)
})
