import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../src/management/problem.ts'
import type { FormField } from '../../src/store/forms/forms.ts'
import { bearer, done, type Rowport, startMs, startRowport } from '../harness.ts'

const field = (column: string, more: Partial<FormField> = {}): FormField => {
  return { column, label: column, help: '', kind: 'text', isRequired: false, choices: [], ...more }
}
const fields = [
  field('name', { isRequired: true, label: 'Your name' }),
  field('email', { kind: 'email' }),
  field('guests', { kind: 'number' }),
  field('meal', { kind: 'choice', choices: ['Soup', 'Salad'] }),
  field('news', { kind: 'checkbox' }),
]

async function withForm(
  t: Parameters<typeof startRowport>[0],
  more: Record<string, unknown> = {},
  wish: Parameters<typeof startRowport>[1] = {},
) {
  const rowport = await startRowport(t, wish)
  const header = 'name,email,guests,meal,news,source,at\n'
  const sheet = await rowport.connectFile('guests', 'guests.csv', `${header}First,,,,,,\n`)
  const { forms, accounts } = rowport.workshop
  const account = done(await accounts.find('acme'))
  const settings = { fields, ...more }
  const form = done(await forms.create({ account, sheetSlug: 'guests', name: 'Party', settings }))
  const rows = async () => (await readFile(sheet.path, 'utf8')).trimEnd().split('\n').slice(2)
  return { rowport, form, sheet, rows, path: `/f/${form.id}` }
}

function post(
  rowport: Rowport,
  path: string,
  entries: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const body = new URLSearchParams(entries)
  return fetch(rowport.url + path, { method: 'POST', body, headers, redirect: 'manual' })
}

async function tokenOf(rowport: Rowport, path: string): Promise<string> {
  return /name="_token" value="([^"]+)"/.exec(await (await rowport.get(path)).text())?.[1] ?? ''
}

const asJson = { Accept: 'application/json' }

test('a plain form adds a row in which texts are texts, and sets what is always set', async (t) => {
  const set = [
    ['source', 'site'],
    ['at', 'now()'],
  ] as const
  const { rowport, path, rows } = await withForm(t, { set })
  const page = await rowport.get(path)
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  const html = await page.text()
  assert.ok(html.includes('<label for="field-0">Your name</label>') && !html.includes('<script'))
  const sent = await post(rowport, path, {
    name: '=1+1',
    email: 'a@b.example',
    guests: '2',
    meal: 'Soup',
    news: 'yes',
  })
  assert.equal(sent.status, 200)
  assert.match(await sent.text(), /Thank you/)
  const at = new Date(startMs).toISOString()
  assert.deepEqual(await rows(), [`"=1+1",a@b.example,2,Soup,TRUE,site,${at}`])

  const multipart = new FormData()
  multipart.set('name', '<b>Eve</b>')
  const second = await fetch(rowport.url + path, { method: 'POST', body: multipart, headers: asJson })
  assert.deepEqual(await second.json(), { success: true, message: 'Your entry was sent.', next: null })
  const third = await fetch(rowport.url + path, {
    method: 'POST',
    body: JSON.stringify({ name: 'Json', guests: 3 }),
    headers: { ...asJson, 'Content-Type': 'application/json', Origin: 'https://elsewhere.example' },
  })
  assert.equal(third.status, 200)
  assert.equal(third.headers.get('access-control-allow-origin'), '*')
  assert.deepEqual((await rows()).slice(1), [`<b>Eve</b>,,,,FALSE,site,${at}`, `Json,,3,,FALSE,site,${at}`])
})

test('what is wrong comes back beside its field, with the entries kept, and nothing is added', async (t) => {
  const { rowport, path, rows } = await withForm(t)
  const entries = { name: '', email: 'nobody', guests: 'two', meal: 'Steak"><script>' }
  const page = await post(rowport, path, entries, { Accept: 'text/html,*/*' })
  assert.equal(page.status, 422)
  const html = await page.text()
  for (const text of ['value="nobody"', 'Enter an email address.', 'Enter a number.', 'Choose one of these.'])
    assert.ok(html.includes(text), text)
  assert.ok(
    html.includes('aria-invalid="true" aria-describedby="field-0-mistake"') && !html.includes('<script'),
  )
  const json = await post(rowport, path, { ...entries, meal: 'Soup' }, asJson)
  assert.deepEqual(await json.json(), {
    error: 'Some fields are not filled in right.',
    code: 'invalid_entry',
    fields: { name: 'Fill in this field.', email: 'Enter an email address.', guests: 'Enter a number.' },
  })
  assert.equal((await post(rowport, path, { name: 'x', source: 'mine' })).status, 422)
  assert.equal((await post(rowport, path, { email: 'a@b.example' })).status, 422)
  assert.deepEqual(await rows(), [])
})

test('double clicks and reloads are one row, and an entry that was changed is another', async (t) => {
  const { rowport, path, rows } = await withForm(t, { next: 'https://shop.example/thanks' })
  const _token = await tokenOf(rowport, path)
  const clicks = await Promise.all([1, 2, 3].map(() => post(rowport, path, { name: 'Ann', _token })))
  for (const click of clicks) {
    assert.equal(click.status, 303)
    assert.equal(click.headers.get('location'), 'https://shop.example/thanks')
  }
  rowport.clock.advanceMs(3_600_000)
  const reload = await post(rowport, path, { name: 'Ann', _token, _next: 'https://evil.example' })
  assert.equal(reload.headers.get('location'), 'https://shop.example/thanks')
  assert.equal((await rows()).length, 1)
  await post(rowport, path, { name: 'Anne', _token })
  await post(rowport, path, { name: 'Ann', _token: await tokenOf(rowport, path) })
  assert.equal((await rows()).length, 3)
  await Promise.all([1, 2].map(() => post(rowport, path, { name: 'Without a token' })))
  assert.equal((await rows()).length, 4)
})

test('what looks like spam is held and answered alike; its owner releases it or throws it away', async (t) => {
  const { rowport, path, form, rows } = await withForm(t, { minSeconds: 3, honeypot: 'website' })
  const { forms } = rowport.workshop
  const _token = await tokenOf(rowport, path)
  const trapped = await post(rowport, path, { name: 'Bot', website: 'x', _token })
  const quick = await post(rowport, path, { name: 'Quick', _token })
  const forged = await post(rowport, path, {
    name: 'Forged',
    _token: `0.${'a'.repeat(16)}.${'b'.repeat(22)}`,
  })
  rowport.clock.advanceMs(3_000)
  const slow = await post(rowport, path, { name: 'Slow', _token })
  const texts = await Promise.all([trapped, quick, forged, slow].map((answer) => answer.text()))
  assert.equal(new Set(texts).size, 1)
  assert.deepEqual(await rows(), ['Slow,,,,FALSE,,'])
  const held = done(await forms.entries(form.id))
  assert.deepEqual(held.map(({ reason }) => reason).sort(), ['honeypot', 'too_quick', 'too_quick'])
  const bot = held.find(({ reason }) => reason === 'honeypot')
  const person = held.find(({ row }) => row[0]?.[1] === 'Quick')
  assert.ok(bot && person)
  done(await forms.discard(bot.id))
  done(await forms.release(person.id))
  for (let tries = 0; (await rows()).length < 2 && tries < 200; tries++) await sleep(100)
  assert.deepEqual(await rows(), ['Slow,,,,FALSE,,', 'Quick,,,,FALSE,,'])
  for (let tries = 0; done(await forms.entries(form.id)).length > 1 && tries < 100; tries++) await sleep(100)
  assert.equal(done(await forms.entries(form.id)).length, 1)
})

test('visitors and forms have their limits, and neither uses up what the owner has', async (t) => {
  const more = { entriesPerMinute: 2, entriesPerHour: 5 }
  const wish = { plan: 'pro', settings: { trustedProxies: ['127.0.0.1'] } }
  const { rowport, path, rows, sheet } = await withForm(t, more, wish)
  const statuses: number[] = []
  for (let n = 0; n < 12; n++) {
    const headers = { 'X-Forwarded-For': `203.0.113.${Math.floor(n / 3)}` }
    statuses.push((await post(rowport, path, { name: `n${n}` }, headers)).status)
  }
  assert.deepEqual(statuses, [200, 200, 429, 200, 200, 429, 200, 429, 429, 429, 429, 429])
  assert.equal((await rows()).length, 5)
  const owners = await rowport.get(sheet.formA, bearer(await rowport.createKey()))
  assert.equal(owners.headers.get('x-ratelimit-remaining'), '299')
  assert.equal(owners.headers.get('x-quota-remaining'), '249999')
  const refused = await post(rowport, path, { name: 'x' })
  assert.ok(Number(refused.headers.get('retry-after')) > 60)
})

test('what was taken is told so again over the limit, and only what is added uses up the hour', async (t) => {
  const more = { entriesPerMinute: 4, entriesPerHour: 2, honeypot: 'website' }
  const wish = { plan: 'pro', settings: { trustedProxies: ['127.0.0.1'] } }
  const { rowport, path, form, rows } = await withForm(t, more, wish)
  const from = (host: number) => ({ 'X-Forwarded-For': `203.0.113.${host}`, Accept: 'text/html' })
  const _token = await tokenOf(rowport, path)
  for (let n = 0; n < 2; n++) {
    assert.equal((await post(rowport, path, { email: `nobody ${n}`, _token }, from(1))).status, 422)
    assert.equal((await post(rowport, path, { name: 'Bot', website: 'x', _token }, from(1))).status, 200)
  }
  assert.equal(done(await rowport.workshop.forms.entries(form.id)).length, 1, 'a double click is held once')
  for (let n = 0; n < 3; n++)
    assert.equal((await post(rowport, path, { name: 'Ann', _token }, from(2))).status, 200)
  assert.equal((await post(rowport, path, { name: 'Bob', _token }, from(2))).status, 200)
  assert.equal((await rows()).length, 2, 'neither mistakes nor spam nor repetitions took of the hour')
  const late = await post(rowport, path, { name: 'Cy', _token }, from(3))
  assert.equal(late.status, 429)
  const page = await late.text()
  assert.ok(page.includes('value="Cy"') && page.includes('Please try again in a while.'), page)
  for (const host of [2, 3])
    assert.equal((await post(rowport, path, { name: 'Bob', _token }, from(host))).status, 200, `${host}`)
  assert.equal((await rows()).length, 2)
  const statuses: number[] = []
  for (let n = 0; n < 6; n++)
    statuses.push((await post(rowport, path, { name: 'Bob', _token }, from(3))).status)
  assert.deepEqual(statuses.slice(-2), [429, 429], 'whoever goes on is no longer looked at')
})

test('without a token, the same within a minute is one row and held once, whatever the clock shows', async (t) => {
  const { rowport, path, form, rows } = await withForm(t, { honeypot: 'website' })
  rowport.clock.advanceMs(60_000 - (rowport.clock.nowMs() % 60_000) - 1_000)
  const both = async () => {
    assert.equal((await post(rowport, path, { name: 'Ann' })).status, 200)
    assert.equal((await post(rowport, path, { name: 'Bot', website: 'x' })).status, 200)
    return [(await rows()).length, done(await rowport.workshop.forms.entries(form.id)).length]
  }
  assert.deepEqual(await both(), [1, 1])
  rowport.clock.advanceMs(2_000)
  assert.deepEqual(await both(), [1, 1], 'in the next minute of the clock')
  rowport.clock.advanceMs(58_000)
  assert.deepEqual(await both(), [2, 2])
})

test('an entry that was released has the time when it was sent, and is not added again', async (t) => {
  const { rowport, path, form, rows } = await withForm(t, { minSeconds: 3, set: [['at', 'now()']] })
  const { forms } = rowport.workshop
  const _token = await tokenOf(rowport, path)
  await post(rowport, path, { name: 'Quick', _token })
  const [held] = done(await forms.entries(form.id))
  rowport.clock.advanceMs(3_600_000)
  done(await forms.release(held?.id ?? ''))
  for (let tries = 0; done(await forms.entries(form.id)).length > 0 && tries < 200; tries++) await sleep(100)
  assert.equal((await post(rowport, path, { name: 'Quick', _token })).status, 200)
  assert.deepEqual(await rows(), [`Quick,,,,FALSE,,${new Date(startMs).toISOString()}`])
  assert.deepEqual(done(await forms.entries(form.id)), [])
})

test('what the sheet cannot take any more is held, and added when its owner has mended that', async (t) => {
  const { rowport, path, form, sheet, rows } = await withForm(t)
  const { forms } = rowport.workshop
  const header = (name: string) =>
    writeFile(sheet.path, `${name},email,guests,meal,news,source,at\nFirst,,,,,,\n`)
  await header('full name')
  rowport.clock.advanceMs(600_000)
  for (const name of ['Ann', 'Bob'])
    assert.match(await (await post(rowport, path, { name })).text(), /Thank you/)
  assert.deepEqual(await rows(), [])
  const reasons = async () => done(await forms.entries(form.id)).map(({ reason }) => reason)
  assert.deepEqual(await reasons(), ['unfit', 'unfit'])
  const waiting = async (isOver: () => Promise<boolean>) => {
    for (let tries = 0; !(await isOver()) && tries < 200; tries++) await sleep(50)
  }
  const ids = new Set(done(await forms.entries(form.id)).map(({ id }) => id))
  assert.equal(done(await forms.releaseAll(form.id)), 2)
  await waiting(async () => done(await forms.entries(form.id)).every(({ id }) => !ids.has(id)))
  assert.deepEqual(await reasons(), ['unfit', 'unfit'], 'it was tried, and waits again')
  await header('name')
  rowport.clock.advanceMs(600_000)
  assert.equal(done(await forms.releaseAll(form.id)), 2)
  await waiting(async () => (await reasons()).length === 0)
  assert.deepEqual((await rows()).toSorted(), ['Ann,,,,FALSE,,', 'Bob,,,,FALSE,,'])
})

test('a form that is closed, gone, paused or outdated says so and adds nothing', async (t) => {
  const { rowport, path, form, rows } = await withForm(t, { framedBy: ['https://shop.example'] })
  const { forms, sheets } = rowport.workshop
  const framed = await rowport.get(path)
  assert.match(
    framed.headers.get('content-security-policy') ?? '',
    /frame-ancestors https:\/\/shop\.example;/,
  )
  done(await forms.setOpen(form.id, false))
  assert.equal((await post(rowport, path, { name: 'x' })).status, 410)
  done(await forms.setOpen(form.id, true))
  done(await sheets.setPaused('acme', 'guests', true))
  assert.equal((await post(rowport, path, { name: 'x' })).status, 503)
  done(await sheets.setPaused('acme', 'guests', false))
  assert.deepEqual(await rows(), [])
  done(await forms.remove(form.id))
  assert.equal((await rowport.get(path)).status, 404)
  assert.equal((await post(rowport, '/f/form_nothing', { name: 'x' })).status, 404)
})

test('where a form names pages, others are refused, and its own page is not', async (t) => {
  const { rowport, path, rows } = await withForm(t, { origins: ['https://*.shop.example'], thanks: 'Bye!' })
  const from = (origin: string) => post(rowport, path, { name: 'x' }, { ...asJson, Origin: origin })
  assert.equal((await from('https://www.shop.example')).status, 200)
  const refused = await from('https://evil.example')
  assert.equal(refused.status, 403)
  assert.equal(((await refused.json()) as { code: string }).code, 'origin_not_allowed')
  assert.equal((await post(rowport, path, { name: 'y' })).status, 403)
  const own = await post(rowport, path, { name: 'z', _token: await tokenOf(rowport, path) })
  assert.match(await own.text(), /<p class="message">Bye!</)
  assert.equal((await rows()).length, 2)
})

test('a form is changed as a whole, and held against its sheet', async (t) => {
  const { rowport, path, form, rows } = await withForm(t)
  const { forms } = rowport.workshop
  const settings = { fields: [field('email', { kind: 'email', help: 'For the answer.' })], intro: '<i>Hi' }
  const changed = done(await forms.change(form, { name: 'Feast', settings }))
  assert.deepEqual(done(await forms.find(form.id)), changed)
  const html = await (await rowport.get(path)).text()
  assert.ok(html.includes('&lt;i&gt;Hi') && html.includes('aria-describedby="field-0-help"'), html)
  assert.equal((await post(rowport, path, { name: 'x' })).status, 422)
  assert.equal((await post(rowport, path, { email: 'a@b.example' })).status, 200)
  assert.equal((await rows()).length, 1)
  const unknown = await forms.change(changed, { name: 'x', settings: { fields: [field('nothing')] } })
  assert.ok(unknown instanceof Problem)
  const unnamed = await forms.change(changed, {
    name: 'x',
    settings: { fields: [field('name', { label: ' ' })] },
  })
  assert.ok(unnamed instanceof Problem)
})

test('what a stranger found: amounts with separators, days that are none, keys that are taken, addresses that no header holds', async (t) => {
  const more = { fields: [...fields, field('at', { kind: 'date' })], origins: ['https://good.example'] }
  const { rowport, form, path, rows } = await withForm(t, { ...more, next: 'https://example.com/danke-✓' })
  assert.equal(form.settings.next, 'https://example.com/danke-%E2%9C%93')
  const page = await rowport.get(path, { Accept: 'text/html' })
  // A page that may not be kept is another one, with another token, for whoever goes back.
  assert.equal(page.headers.get('cache-control'), 'private, no-cache')
  const token = /name="_token" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  const asked = { Accept: 'application/json', Origin: 'https://evil.example' }
  assert.equal((await rowport.get(path, asked)).headers.get('access-control-allow-origin'), null)
  const listed = { Accept: 'application/json', Origin: 'https://good.example' }
  assert.equal((await rowport.get(path, listed)).headers.get('access-control-allow-origin'), '*')
  const mistakesIn = async (entry: Record<string, string>) => {
    const answer = await post(
      rowport,
      path,
      { _token: token, name: 'x', ...entry },
      { Accept: 'application/json' },
    )
    return Object.keys(((await answer.json()) as { fields?: object }).fields ?? {})
  }
  assert.deepEqual(await mistakesIn({ guests: '1,000' }), ['guests'])
  assert.deepEqual(await mistakesIn({ at: '2026-02-29' }), ['at'])
  assert.deepEqual(await mistakesIn({ at: '0000-01-01' }), ['at'])
  assert.deepEqual(await rows(), [])
  assert.deepEqual(await mistakesIn({ guests: '1,5', at: '2028-02-29' }), [])
  assert.deepEqual(await rows(), ['x,,1.5,,FALSE,,2028-02-29'])

  const { forms, accounts, sheets } = rowport.workshop
  const account = done(await accounts.find('acme'))
  const wish = { account, sheetSlug: 'guests', name: 'Again', settings: { fields } }
  for (const next of [
    'https:evil.example',
    'http://user:pw@evil.example',
    'https://a.example/\r\nSet-Cookie: x=1',
  ])
    assert.ok((await forms.create({ ...wish, settings: { fields, next } })) instanceof Problem, next)
  const twice = { fields, set: [['name', 'x']] as const }
  assert.ok(
    (await forms.create({ ...wish, settings: twice })) instanceof Problem,
    'a field that is always set',
  )
  assert.deepEqual(await mistakesIn({ news: 'maybe' }), ['news'])
  const options = await fetch(rowport.url + path, { method: 'OPTIONS' })
  assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, POST, OPTIONS'])
  done(await sheets.change('acme', 'guests', { keyColumn: 'name' }))
  const optional = { fields: [field('name'), field('email')] }
  assert.ok((await forms.create({ ...wish, settings: optional })) instanceof Problem, 'no row without a key')
  done(await forms.create(wish))
  const before = (await rows()).length
  const taken = await post(rowport, path, { _token: token, name: 'x', guests: '2' })
  const free = await post(rowport, path, { _token: token, name: 'y', guests: '2' })
  assert.deepEqual([taken.status, await taken.text()], [free.status, await free.text()])
  assert.equal((await rows()).length, before + 1)
  assert.deepEqual(
    done(await forms.entries(form.id)).map(({ reason, row }) => [reason, row[0]]),
    [['unfit', ['name', 'x']]],
  )
  done(await sheets.change('acme', 'guests', { autoKey: 'uuid' }))
  assert.ok((await forms.create(wish)) instanceof Problem, 'Rowport fills it in')
})

test('a form has so many texts: its page is made for whoever asks for it', async (t) => {
  const { rowport, form } = await withForm(t)
  const { forms } = rowport.workshop
  const withChoices = (count: number) => {
    const choices = Array.from({ length: count }, (_, n) => `${n}${'x'.repeat(990)}`)
    const meal = field('meal', { kind: 'choice', choices })
    return forms.change(form, { name: 'Party', settings: { fields: [meal] } })
  }
  done(await withChoices(18))
  const tooLong = await withChoices(21)
  assert.ok(tooLong instanceof Problem)
  assert.match(tooLong.message, /too long: shorten its texts, or offer fewer choices/)
})

test('what is no form counts as an entry: there is an end to it', async (t) => {
  const { rowport, path, rows } = await withForm(t)
  const headers = { ...asJson, 'Content-Type': 'multipart/form-data; boundary=b' }
  const statuses: number[] = []
  for (let n = 0; n < 14; n++) {
    const answer = await fetch(rowport.url + path, { method: 'POST', headers, body: '--b\r\nnothing' })
    statuses.push(answer.status)
  }
  assert.deepEqual(statuses, [...Array<number>(10).fill(400), ...Array<number>(4).fill(429)])
  assert.deepEqual(await rows(), [])
})

test('a form that takes nothing looks at a few of the entries that one visitor sends it, and answers the others unread', async (t) => {
  const { rowport, path, rows } = await withForm(t)
  done(await rowport.workshop.sheets.setPaused('acme', 'guests', true))
  const refused = { status: 503, code: 'sheet_paused' }
  const sent = async (name: string) => {
    const answer = await post(rowport, path, { name }, asJson)
    return { status: answer.status, code: ((await answer.json()) as { code: string }).code }
  }
  for (let n = 0; n < 5; n++) assert.deepEqual(await sent(`guest ${n}`), refused)
  done(await rowport.workshop.sheets.setPaused('acme', 'guests', false))
  assert.deepEqual(await sent('too soon'), refused, 'it was not even looked at')
  rowport.clock.advanceMs(5_000)
  assert.equal((await sent('later')).status, 200)
  assert.equal((await rows()).length, 1)
})

test('pages that may not send count too: there is an end to it', async (t) => {
  const { rowport, path } = await withForm(t, { origins: ['https://shop.example'] })
  const statuses: number[] = []
  for (let n = 0; n < 12; n++) statuses.push((await post(rowport, path, { name: `${n}` }, asJson)).status)
  assert.deepEqual(statuses, [...Array<number>(10).fill(403), 429, 429])
})

test('an entry comes back with what is wrong, but for one that is longer than anybody types', async (t) => {
  const long = fields.map((each) => ({ ...each, kind: 'long' as const }))
  const { rowport, path } = await withForm(t, { fields: long })
  const answerTo = async (characters: number) => {
    const text = "'".repeat(characters)
    const entries = { name: text, email: text, guests: text, meal: text }
    const answer = await post(rowport, path, entries, { Accept: 'text/html' })
    return { status: answer.status, html: await answer.text() }
  }
  const kept = await answerTo(12_000)
  assert.equal(kept.status, 422)
  assert.equal(kept.html.split('&#39;').length - 1, 4 * 12_000)
  const tooLong = await answerTo(50_000)
  assert.equal(tooLong.status, 422)
  assert.match(tooLong.html, /too long to be shown here again\. Go back/)
  assert.ok(tooLong.html.length < 10_000)
})

test('what somebody wrote in a field that the owner removed meanwhile is shown to them, and nothing is added without it', async (t) => {
  const { rowport, form, path, rows } = await withForm(t)
  const token = await tokenOf(rowport, path)
  const settings = { ...form.settings, fields: fields.filter(({ column }) => column !== 'email') }
  done(await rowport.workshop.forms.change(form, { name: 'Party', settings }))
  const entry = { name: 'Ann', email: 'ann@b.example\n<b>and</b> more', news: 'on', _token: token }
  const answer = await post(rowport, path, entry, { Accept: 'text/html' })
  assert.equal(answer.status, 422)
  const html = await answer.text()
  assert.match(html, /The form has no field “email”\. You wrote there: ann@b\.example\n&lt;b&gt;and/)
  assert.match(html, /value="Ann"/)
  assert.deepEqual(await rows(), [])
  const { email: _, ...rest } = entry
  assert.equal((await post(rowport, path, rest)).status, 200)
  assert.equal((await rows()).length, 1)
})
