import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cli } from '../../src/cli.ts'
import { tokenIdentity } from '../../src/providers/remote/access-tokens.ts'
import { createSealing } from '../../src/secrets/sealing.ts'
import { spreadsheetsScope } from '../emulator/harness.ts'
import { bearer, done, startRowport } from '../harness.ts'
import { createVisitor, signedIn } from './visitor.ts'
import { ada, startTogether, type Together } from './with-google.ts'

/** The operator's commands, in another workshop on the same data, with the settings of the server. */
function commandLine({ rowport, google }: Together) {
  const env = {
    ROWPORT_DATA: rowport.folder,
    ROWPORT_SECRET: 'the secret of the tests',
    BASE_URL: rowport.workshop.baseUrl,
    GOOGLE_CLIENT_ID: '123456789012-demo.apps.googleusercontent.com',
    GOOGLE_CLIENT_SECRET: 'demo secret',
    GOOGLE_ENDPOINT: google.url,
  }
  return async (...words: string[]) => {
    const said: string[] = []
    const write = (text: string) => said.push(text)
    const code = await cli(words, { env, stdout: { write }, stderr: { write } })
    return { code, said: said.join('') }
  }
}

test('an operator connects a Google spreadsheet of an account: with the owner’s access, by id or link, by tab or without', async (t) => {
  const together = await startTogether(t)
  const { rowport, google, connect, createSpreadsheet } = together
  const rowportCommand = commandLine(together)
  const id = await createSpreadsheet('Shop', {
    tabs: [
      { title: 'Items', values: [['a'], [1]] },
      { title: 'Orders', values: [['b'], [2], [3]] },
    ],
  })
  const early = await rowportCommand('sheet', 'connect', 'acme/shop', '--google', id)
  assert.equal(early.code, 1)
  assert.equal(
    early.said,
    'rowport: account "acme" is not connected to Google yet; the owner does that in the dashboard. ' +
      'For a link: rowport account link acme\n',
  )

  const link = await rowportCommand('account', 'link', 'acme')
  const linkToken = /\/sign-in-link\?token=(\S+)/.exec(link.said)?.[1] ?? ''
  const owner = createVisitor(rowport)
  assert.equal((await owner.call('POST', '/sign-in-link', { token: linkToken })).status, 200)
  await connect(owner)
  const status = await rowportCommand('google', 'status', 'acme')
  assert.match(status.said, new RegExp(`^Account acme is connected to ${ada}, since 2026-11-15\\.\n$`))

  const byId = await rowportCommand('sheet', 'connect', 'acme/shop', '--google', id)
  assert.match(byId.said, /^Sheet acme\/shop connected: 1 column, 1 row\.\n {2}\/api\/sheets\/acme\/shop\n/)
  const url = `https://docs.google.com/spreadsheets/d/${id}/edit#gid=0`
  const byTab = await rowportCommand('sheet', 'connect', 'acme/orders', '--google', url, '--tab', 'Orders')
  assert.match(byTab.said, /^Sheet acme\/orders connected: 1 column, 2 rows\./)
  const refusals: [words: string[], said: string][] = [
    [['--google', id, '--tab', 'None'], '"Shop" has no tab named "None"; its tabs are "Items", "Orders"'],
    [['--google', 'nonsense'], 'that is not the link of a Google spreadsheet; it begins with'],
    [['--google', id.replace(/.{4}$/, 'xxxx')], ''],
  ]
  for (const [words, said] of refusals) {
    const refused = await rowportCommand('sheet', 'connect', 'acme/more', ...words)
    assert.equal(refused.code, 1, refused.said)
    assert.ok(refused.said.startsWith(`rowport: ${said}`), refused.said)
    assert.doesNotMatch(refused.said, /\n {4}at /)
  }
  const { access_token: token } = await google.tokens(ada, [spreadsheetsScope])
  const hide = { updateSheetProperties: { properties: { sheetId: 0, hidden: true }, fields: 'hidden' } }
  const hidden = await google.api(token, 'POST', `/v4/spreadsheets/${id}:batchUpdate`, { requests: [hide] })
  assert.equal(hidden.status, 200)
  const visible = await rowportCommand('sheet', 'connect', 'acme/visible', '--google', id)
  assert.match(visible.said, /connected: 1 column, 2 rows\./, 'the first that people see')
  const list = await rowportCommand('sheet', 'list', 'acme')
  assert.match(
    list.said,
    /\norders +live +private +sh_\w+ +Shop · Orders\nshop +live +private +sh_\w+ +Shop · Items\nvisible +live/,
  )

  const key = await rowport.createKey()
  assert.deepEqual(await (await rowport.get('/api/sheets/acme/orders', bearer(key))).json(), [
    { b: 2 },
    { b: 3 },
  ])

  const over = await rowportCommand('google', 'disconnect', 'acme')
  assert.match(
    over.said,
    new RegExp(`^Account acme is disconnected from ${ada}\\. .* Google has withdrawn the access`),
  )
  assert.equal(
    (await rowport.get('/api/sheets/acme/orders', bearer(key))).status,
    503,
    'in the running server, at once',
  )
  assert.match((await rowportCommand('sheet', 'list', 'acme')).said, /\norders +needs reconnect +private/)
  assert.match((await rowportCommand('google', 'status', 'acme')).said, /needs to connect again/)
  const late = await rowportCommand('sheet', 'connect', 'acme/more', '--google', id)
  assert.match(late.said, /^rowport: account "acme" must connect Google again;/)
})

test('another secret: what the former one sealed is sealed anew at the start, and then the former one can go', async (t) => {
  const together = await startTogether(t)
  const { rowport, google, connect, createSpreadsheet } = together
  await connect(await signedIn(rowport))
  const id = await createSpreadsheet('Shop')
  await commandLine(together)('sheet', 'connect', 'acme/shop', '--google', id, '--access', 'public-read')
  const { id: accountId } = done(await rowport.workshop.accounts.find('acme'))
  const credentialNow = async () => {
    const credential = await rowport.workshop.store.credentialOf(accountId, 'google')
    assert.ok(credential)
    return credential
  }
  const before = await credentialNow()

  const settings = {
    dataFolder: rowport.folder,
    store: { kind: 'sqlite' as const, path: `${rowport.folder}/rowport.db` },
    google: {
      client: { clientId: '123456789012-demo.apps.googleusercontent.com', clientSecret: 'demo secret' },
      apiKey: null,
      areWritesOff: false,
      endpoint: google.url,
      scope: 'drive.file' as const,
    },
  }
  const secret = 'another secret, longer than before'
  const account = { account: 'somebody-else' }
  const rotated = await startRowport(t, {
    ...account,
    settings: { ...settings, secret, formerSecrets: ['the secret of the tests'] },
  })
  const after = await credentialNow()
  assert.notEqual(after.keyId, before.keyId)
  assert.equal(after.version, before.version, 'nothing else changed')
  const { id: credentialId, version } = after
  const identity = tokenIdentity({ credentialId, accountId, version })
  assert.ok(createSealing(secret, []).open(after.sealedToken, after.keyId, identity))
  assert.equal((await rotated.get('/api/sheets/acme/shop')).status, 200)

  const without = await startRowport(t, { account: 'one-more', settings: { ...settings, secret } })
  assert.equal((await without.get('/api/sheets/acme/shop')).status, 200)
  const lost = await startRowport(t, {
    account: 'and-one',
    settings: { ...settings, secret: 'a secret that sealed nothing' },
  })
  assert.equal((await lost.get('/api/sheets/acme/shop')).status, 503)
  assert.deepEqual(await credentialNow(), after, 'with the right secret back in place it is as good as ever')
})
