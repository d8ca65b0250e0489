import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { driveFile, formOf, redirectUri, spreadsheetsScope, startLocalGoogle } from './harness.ts'

const client = { client_id: '123456789-shop', client_secret: 'any' }
const spreadsheetType = 'application/vnd.google-apps.spreadsheet'
const request = {
  client_id: client.client_id,
  redirect_uri: redirectUri,
  response_type: 'code',
  scope: driveFile,
  access_type: 'offline',
  prompt: 'consent',
  login_hint: 'ada@example.com',
}
const picking = { ...request, trigger_onepick: 'true', allow_multiple: 'true', mimetypes: spreadsheetType }

async function startPicking(t: TestContext) {
  const google = await startLocalGoogle(t)
  const create = async (title: string, owner = 'ada@example.com'): Promise<string> => {
    const made = { title, owner, tabs: [{ title: 'Items', values: [['name']] }], pickedBy: false }
    return (await google.control<{ spreadsheetId: string }>('POST', 'spreadsheets', made)).spreadsheetId
  }
  const pageUrl = (parameters: Record<string, string> = picking): string =>
    `${google.url}/o/oauth2/v2/auth?${new URLSearchParams(parameters)}`
  const open = async (parameters?: Record<string, string>): Promise<string> =>
    (await fetch(pageUrl(parameters))).text()
  /** As a person who presses one of the buttons. */
  const press = (form: URLSearchParams, decision: string): Promise<Response> => {
    form.set('decision', decision)
    return fetch(`${google.url}/o/oauth2/v2/auth`, { method: 'POST', body: form, redirect: 'manual' })
  }
  const backFrom = (response: Response): URLSearchParams =>
    new URL(response.headers.get('location') ?? '').searchParams
  /** In automatic mode. */
  const consent = async (parameters: Record<string, string>): Promise<URLSearchParams> =>
    backFrom(await fetch(pageUrl(parameters), { redirect: 'manual' }))
  const tokenOf = async (back: URLSearchParams): Promise<string> => {
    const { body } = await google.exchange({
      ...client,
      grant_type: 'authorization_code',
      code: back.get('code') ?? '',
      redirect_uri: redirectUri,
    })
    return String(body.access_token)
  }
  const status = async (token: string, id: string): Promise<number> =>
    (await google.api(token, 'GET', `/v4/spreadsheets/${id}`)).status
  return { google, create, open, press, backFrom, consent, tokenOf, status }
}

const boxesIn = (html: string): string[] =>
  [...html.matchAll(/name="picked_file" value="([^"]*)"/g)].map(([, value = '']) => value)

test('the page offers the files of each account, none ticked; what is ticked is picked for this app', async (t) => {
  const { google, create, open, press, backFrom, tokenOf, status } = await startPicking(t)
  const kept = await create('Kept <b>')
  const unticked = await create('Unticked')
  const foreign = await create('Of grace', 'grace@example.com')
  const shared = await create('Shared', 'grace@example.com')
  const { access_token: ofGrace } = await google.tokens('grace@example.com')
  await google.api(ofGrace, 'POST', `/drive/v3/files/${shared}/permissions`, {
    type: 'user',
    role: 'writer',
    emailAddress: 'ada@example.com',
  })
  const html = await open()
  assert.match(html, /Kept &lt;b&gt;/)
  assert.doesNotMatch(html, /<script/)
  assert.deepEqual(boxesIn(html).sort(), [
    ...[kept, unticked, shared].map((id) => `ada@example.com ${id}`).sort(),
    ...[foreign, shared].map((id) => `grace@example.com ${id}`).sort(),
  ])
  const form = formOf(html)
  assert.deepEqual(form.getAll('picked_file'), [])
  form.append('picked_file', `ada@example.com ${kept}`)
  // The box of the other account: it is hers. And one that ada may not open.
  form.append('picked_file', `grace@example.com ${shared}`)
  form.append('picked_file', `ada@example.com ${foreign}`)
  const back = backFrom(await press(form, 'allow'))
  assert.equal(back.get('picked_file_ids'), kept)
  assert.equal(back.get('scope'), driveFile)
  const token = await tokenOf(back)
  assert.deepEqual(
    await Promise.all([kept, unticked, foreign, shared].map((id) => status(token, id))),
    [200, 404, 404, 404],
  )
  const otherApp = await google.control<{ access_token: string }>('POST', 'tokens', {
    user: 'ada@example.com',
    scopes: [driveFile],
    clientId: '987654321-other',
  })
  assert.equal(await status(otherApp.access_token, kept), 404)
})

test('a search brings the page again: what matches and what was ticked, and the account that was chosen', async (t) => {
  const { create, open, press, backFrom } = await startPicking(t)
  const ticked = await create('Holidays', 'grace@example.com')
  const found = await create('Prices 2026', 'grace@example.com')
  await create('Team', 'grace@example.com')
  const form = formOf(await open())
  form.set('account', 'grace@example.com')
  form.append('picked_file', `grace@example.com ${ticked}`)
  form.set('picker_search grace@example.com', ' PRICE')
  const answer = await press(form, 'search')
  assert.equal(answer.status, 200)
  const html = await answer.text()
  assert.deepEqual(boxesIn(html).sort(), [ticked, found].map((id) => `grace@example.com ${id}`).sort())
  const again = formOf(html)
  assert.equal(again.get('account'), 'grace@example.com')
  assert.equal(again.get('picker_search grace@example.com'), 'PRICE')
  assert.deepEqual(again.getAll('picked_file'), [`grace@example.com ${ticked}`])
  assert.equal(again.getAll('client_id').length, 1)
  again.set('picker_search grace@example.com', 'nothing of the kind')
  assert.match(await (await press(new URLSearchParams(again), 'search')).text(), /Holidays/)

  again.append('picked_file', `grace@example.com ${found}`)
  const picked = backFrom(await press(again, 'allow')).get('picked_file_ids')
  assert.deepEqual(picked?.split(',').sort(), [ticked, found].sort())
})

test('nothing ticked is a consent all the same, and cancelling is none', async (t) => {
  const { create, open, press, backFrom, tokenOf, status } = await startPicking(t)
  const id = await create('Shop')
  const back = backFrom(await press(formOf(await open()), 'allow'))
  assert.equal(back.has('picked_file_ids'), false)
  assert.equal(await status(await tokenOf(back), id), 404)
  const cancelled = backFrom(await press(formOf(await open()), 'deny'))
  assert.deepEqual(Object.fromEntries(cancelled), { error: 'access_denied' })
})

test('the app says what may be picked: kinds, files, one or several', async (t) => {
  const { google, create, open, consent } = await startPicking(t)
  const one = await create('One')
  const two = await create('Two')
  assert.deepEqual(boxesIn(await open({ ...picking, mimetypes: 'application/pdf' })), [])
  const only = await open({ ...picking, file_ids: `${two},unknown` })
  assert.deepEqual(boxesIn(only), [`ada@example.com ${two}`])
  const { allow_multiple: _, ...single } = picking
  assert.match(await open(single), /type="radio" name="picked_file"/)

  await google.control('POST', 'settings', { autoConsent: { pick: true } })
  const picked = async (parameters: Record<string, string>) =>
    (await consent(parameters)).get('picked_file_ids')?.split(',').sort()
  assert.deepEqual(await picked(picking), [one, two].sort())
  assert.equal((await picked(single))?.length, 1)
  assert.deepEqual(await picked({ ...picking, file_ids: two }), [two])
})

test('picking goes with drive.file alone and with prompt=consent, or the person is told of an error', async (t) => {
  const { google, create, open, consent } = await startPicking(t)
  await create('Shop')
  for (const scope of [`openid email ${driveFile}`, `${driveFile} ${spreadsheetsScope}`, 'openid']) {
    assert.match(await open({ ...picking, scope }), /Error 400: invalid_scope/)
  }
  assert.match(await open({ ...picking, prompt: 'select_account' }), /Error 400: invalid_request/)
  assert.deepEqual(boxesIn(await open(request)), [], 'without trigger_onepick nothing is offered')
  await google.control('POST', 'settings', { autoConsent: { pick: true } })
  assert.equal((await consent(request)).has('picked_file_ids'), false)
})

test('in automatic mode what is named is picked, by title or id, and what was picked before stays', async (t) => {
  const { google, create, consent, tokenOf, status } = await startPicking(t)
  const [one, two, three] = [await create('One'), await create('Two'), await create('Three')]
  const pick = async (wanted?: boolean | string[]) => {
    await google.control('POST', 'settings', {
      autoConsent: wanted === undefined ? true : { pick: wanted },
    })
    const back = await consent(picking)
    const token = await tokenOf(back)
    const statuses = await Promise.all([one, two, three].map((id) => status(token, id)))
    return [back.get('picked_file_ids'), ...statuses]
  }
  assert.deepEqual(await pick(), [null, 404, 404, 404])
  assert.deepEqual(await pick(['Two', 'unknown']), [two, 404, 200, 404])
  assert.deepEqual(await pick([one]), [one, 200, 200, 404])
  assert.deepEqual(await pick(false), [null, 200, 200, 404])
  await google.control('POST', 'grants/ada@example.com/revoke')
  const [picked, ...statuses] = await pick(true)
  assert.deepEqual(String(picked).split(',').sort(), [one, two, three].sort())
  assert.deepEqual(statuses, [200, 200, 200])
})
