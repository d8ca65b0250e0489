import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { routesFor } from '../../src/dashboard/owner-api/routes.ts'
import { providerTable } from '../../src/providers/provider-table.ts'
import { defaultShares } from '../../src/shares/shares.ts'
import { ownPage } from '../connect/visitor.ts'
import { startTogether } from '../connect/with-google.ts'
import { settingsFor } from '../mail/mailing.ts'
import { patienceMs } from '../soak.ts'
import {
  formSettings,
  type Ground,
  giveAddressToAnother,
  type Holding,
  holdVerbs,
  markOfOther,
  type Needs,
  newGround,
  openStates,
} from './held-verbs.ts'

/** The verbs of one provider stand for all: they are made by one function. */
const allRoutes = routesFor([providerTable.google])

interface Verb extends Needs {
  /** Only a sheet or a key of the owner's own can have come of it. */
  run(ground: Ground): Promise<{ status: number; text: string }>
}

const file = { provider: 'file', path: 'up.csv', tab: null }
const atGoogle = ({ spreadsheetId }: Ground) => ({ provider: 'google', spreadsheetId, tabId: 0 })
const calling = (method: string, path: string, body?: unknown): Verb => ({
  needsForm: /forms|webhooks|export/.test(path),
  run({ owner, keyId, formId, entryId, webhookId }) {
    const ids = { '{key}': keyId, '{form}': formId, '{entry}': entryId, '{webhook}': webhookId }
    return owner.call(
      method,
      path.replace(/\{\w+\}/g, (name) => ids[name as keyof typeof ids]),
      body,
    )
  },
})
const byMail = (
  method: string,
  path: string,
  bodyFor: (slug: string) => unknown = () => undefined,
): Verb => ({
  needsMailAddress: true,
  run: ({ account, owner }) => owner.call(method, path, bodyFor(account.slug)),
})
const newKey = { name: 'k', mode: 'live', scope: 'read-write' }
const pagePolicy = {
  ...{ may: ['read'], origins: 'any', readColumns: null, writeColumns: null, where: null },
  ...{ set: [], maxRows: 100, requestsPerMinute: 60 },
}
const newPageKey = { name: 'k', mode: 'live', sheetSlug: 's', policy: pagePolicy }
const password = { current: null, next: 'a long password' }

/** Under what each route is called, and once more where another provider or wish takes another way. */
const verbs: Record<string, Verb> = {
  'POST /sheets': calling('POST', '/sheets', { slug: 'planted', access: 'public-read', source: file }),
  'POST /sheets, at Google': {
    needsGoogle: true,
    run: (ground) =>
      ground.owner.call('POST', '/sheets', {
        slug: 'planted',
        access: 'public-read',
        source: atGoogle(ground),
      }),
  },
  'POST /preview': calling('POST', '/preview', file),
  'POST /preview, at Google': {
    needsGoogle: true,
    run: (ground) => ground.owner.call('POST', '/preview', atGoogle(ground)),
  },
  'POST /keys': calling('POST', '/keys', { ...newKey, sheetSlug: null }),
  'POST /keys, for a sheet': calling('POST', '/keys', { ...newKey, sheetSlug: 's' }),
  'POST /keys/publishable': calling('POST', '/keys/publishable', newPageKey),
  'PATCH /keys/{id}/policy': calling('PATCH', '/keys/{key}/policy', newPageKey.policy),
  'POST /keys/{id}/revoke': calling('POST', '/keys/{key}/revoke'),
  'POST /keys/{id}/regenerate': calling('POST', '/keys/{key}/regenerate'),
  'POST /keys/{id}/rotate': calling('POST', '/keys/{key}/rotate', { overlapSeconds: 3_600 }),
  'PATCH /keys/{id}': calling('PATCH', '/keys/{key}', { name: 'renamed', scope: 'read' }),
  'POST /sheets/{slug}/refresh': calling('POST', '/sheets/s/refresh'),
  'POST /sheets/{slug}/console-key': calling('POST', '/sheets/s/console-key'),
  'PATCH /sheets/{slug}': calling('PATCH', '/sheets/s', { paused: true, slug: 'moved', cacheSeconds: 7 }),
  'DELETE /sheets/{slug}': calling('DELETE', '/sheets/s'),
  'POST /google/key': {
    run: ({ owner, keyFile }) => owner.call('POST', '/google/key', { key: keyFile }),
  },
  'POST /google/connect': calling('POST', '/google/connect', { returnTo: '/connect' }),
  'the way back from Google': { needsGoogle: true, run: ({ owner, wayBack }) => owner.get(wayBack) },
  'POST /google/disconnect': { needsGoogle: true, ...calling('POST', '/google/disconnect') },
  'GET /google/spreadsheets': { needsGoogle: true, ...calling('GET', '/google/spreadsheets?search=') },
  'GET /google/spreadsheets/{pasted}/tabs': {
    needsGoogle: true,
    run: ({ owner, spreadsheetId }) => owner.call('GET', `/google/spreadsheets/${spreadsheetId}/tabs`),
  },
  'POST /password': {
    run: ({ owner, account }) =>
      owner.call('POST', '/password', { ...password, email: `${account.slug}@x.org` }),
  },
  'PATCH /account': {
    run: ({ owner, account }) => owner.call('PATCH', '/account', { slug: `${account.slug}-elsewhere` }),
  },
  'POST /account/delete': {
    run: ({ owner, account }) => owner.call('POST', '/account/delete', { confirmSlug: account.slug }),
  },
  'POST /email': byMail('POST', '/email', (slug) => ({ email: `${slug}@y.org` })),
  'POST /email/verification': byMail('POST', '/email/verification'),
  'PATCH /alerts': byMail('PATCH', '/alerts', () => ({ isWanted: false })),
  'POST /sign-out-everywhere': calling('POST', '/sign-out-everywhere'),
  'GET /session': calling('GET', '/session'),
  'GET /start': calling('GET', '/start'),
  'GET /sheets': calling('GET', '/sheets'),
  'GET /sheets/{slug}': calling('GET', '/sheets/s'),
  'GET /sheets/{slug}/rows': calling('GET', '/sheets/s/rows'),
  'GET /sheets/{slug}/requests': calling('GET', '/sheets/s/requests'),
  'GET /sheets/{slug}/history': calling('GET', '/sheets/s/history'),
  'GET /forms': calling('GET', '/forms'),
  'GET /sheets/{slug}/form-guess': calling('GET', '/sheets/s/form-guess'),
  'POST /forms': calling('POST', '/forms', { sheetSlug: 's', name: 'f', settings: formSettings }),
  'POST /forms/{id}': calling('POST', '/forms/{form}', { name: 'g', settings: formSettings }),
  'PATCH /forms/{id}': calling('PATCH', '/forms/{form}', { isOpen: false }),
  'POST /forms/{id}/remove': calling('POST', '/forms/{form}/remove'),
  'GET /forms/{id}/entries': calling('GET', '/forms/{form}/entries'),
  'POST /forms/{id}/entries/{entry}/release': calling('POST', '/forms/{form}/entries/{entry}/release'),
  'POST /forms/{id}/release': calling('POST', '/forms/{form}/release'),
  'POST /forms/{id}/entries/{entry}/discard': calling('POST', '/forms/{form}/entries/{entry}/discard'),
  'GET /webhooks': calling('GET', '/webhooks'),
  'POST /webhooks': calling('POST', '/webhooks', {
    ...{ sheetSlug: 's', url: 'https://1.1.1.1/hook', kinds: null, columns: null },
  }),
  'GET /webhooks/{id}/deliveries': calling('GET', '/webhooks/{webhook}/deliveries'),
  'PATCH /webhooks/{id}': calling('PATCH', '/webhooks/{webhook}', { isOn: true }),
  'POST /webhooks/{id}/test': calling('POST', '/webhooks/{webhook}/test'),
  'POST /webhooks/{id}/rotate': calling('POST', '/webhooks/{webhook}/rotate'),
  'POST /webhooks/{id}/replay': calling('POST', '/webhooks/{webhook}/replay', { since: 'earliest' }),
  'POST /webhooks/{id}/remove': calling('POST', '/webhooks/{webhook}/remove'),
  'GET /keys': calling('GET', '/keys'),
  'GET /files': calling('GET', '/files'),
  'POST /files/{name}/rename': calling('POST', '/files/up.csv/rename', { to: 'renamed.csv' }),
  'DELETE /files/{name}': calling('DELETE', '/files/up.csv'),
  'GET /files/{name}/content': calling('GET', '/files/up.csv/content'),
  'GET /shares': calling('GET', '/shares'),
  'GET /shares/used-up': calling('GET', '/shares/used-up'),
  'GET /audit': calling('GET', '/audit'),
  'GET /google': calling('GET', '/google'),
  'GET /usage': calling('GET', '/usage?sheet=s'),
  'GET /export': calling('GET', '/export'),
  'GET /slug-check': calling('GET', '/slug-check?slug=planted'),
}
/** Uploads are held below by their bodies; the others do nothing that is of an account, or need a password that is checked by its hash. */
const elsewhere = ['POST /files', 'POST /files/{name}/replace', 'POST /confirm']

test('every verb of an owner is held below', () => {
  const owned = allRoutes.filter((route) => 'owner' in route).map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(owned.filter((name) => !(name in verbs) && !elsewhere.includes(name)).sort(), [])
})

test('whatever an owner does, nothing of it lands with whoever has their former address by then', {
  timeout: patienceMs,
}, async (t) => {
  const { ground, holding, rowport, stateOf } = await held(t)
  const points: Record<string, number> = {}
  for (const [name, verb] of Object.entries(verbs)) {
    for (let question = 0; ; question++) {
      const here = await ground(verb)
      const stopped = await stop(holding, question, verb, here)
      if (!stopped) break
      const other = await giveAddressToAnother(here)
      const before = stateOf(other.id)
      stopped.release()
      const { status, text } = await stopped.answer
      const where = `${name}, held before question ${question} (${stopped.name}): ${status} ${text}`
      assert.deepEqual(stateOf(other.id), before, where)
      assert.ok(!text.includes(markOfOther), where)
      assert.ok(status < 500, where)
      if (name.startsWith('POST /sheets,') || name === 'POST /sheets') {
        const own = await rowport.workshop.store.sheetsOf(here.account.id)
        assert.ok(
          own.some(({ slug }) => slug === 'planted'),
          where,
        )
      }
      points[name] = question + 1
    }
  }
  const sum = Object.values(points).reduce((all, count) => all + count, 0)
  t.diagnostic(
    `${Object.keys(verbs).length} verbs were held at ${sum} points: nothing reached the other account`,
  )
  assert.ok(sum > 60, 'verbs were really held')
})

test('a verb whose account has ended meanwhile says so, and leaves nothing behind', {
  timeout: patienceMs,
}, async (t) => {
  const { ground, holding, rowport, stateOf } = await held(t)
  let points = 0
  for (const [name, verb] of Object.entries(verbs)) {
    for (let question = 0; ; question++) {
      const here = await ground(verb)
      const stopped = await stop(holding, question, verb, here)
      if (!stopped) break
      points++
      await rowport.workshop.store.deleteAccount(here.account.id)
      stopped.release()
      const { status, text } = await stopped.answer
      const where = `${name}, held before question ${question} (${stopped.name}): ${status} ${text}`
      assert.ok(status < 500 || status === 502, where)
      const { files, ...left } = stateOf(here.account.id)
      assert.deepEqual(left, {}, where)
      const failures = rowport.seen.filter(({ event }) => event === 'malfunction')
      assert.deepEqual(failures, [], where)
    }
  }
  t.diagnostic(`held at ${points} points: each verb ended without a malfunction`)
})

for (const [way, path, kept, status] of [
  ['', '/files?name=late.csv', 'late.csv', 201],
  [', also in the place of another', '/files/up.csv/replace?name=up.csv', 'up.csv', 200],
] as const) {
  test(`a file whose upload was under way is the account’s own, whoever has its address by then${way}`, async (t) => {
    const { ground, rowport, stateOf } = await held(t)
    const here = await ground({})
    const { promise, resolve } = Promise.withResolvers<number>()
    const sent = request(
      {
        host: '127.0.0.1',
        port: rowport.port,
        method: 'POST',
        path: `/dashboard/api${path}`,
        headers: { ...ownPage, Cookie: here.owner.cookie, 'Transfer-Encoding': 'chunked' },
      },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      },
    )
    sent.write('name\n')
    const folder = join(rowport.folder, 'files', here.account.id)
    while (!readdirSync(folder).some((name) => name.includes('.part'))) await sleep(5)
    const other = await giveAddressToAnother(here)
    const before = stateOf(other.id)
    sent.end('late\n')
    assert.equal(await promise, status)
    assert.deepEqual(stateOf(other.id), before)
    assert.equal(readFileSync(join(folder, kept), 'utf8'), 'name\nlate\n')
  })
}

async function held(t: TestContext) {
  const shares = { ...defaultShares, owner_requests_per_minute: 1_000_000 }
  // Nobody is there: mails wait in the store.
  const { mail } = settingsFor({ port: 1 })
  const together = await startTogether(t, { shares, mail })
  const spreadsheetId = await together.createSpreadsheet('Prices')
  const { rowport } = together
  const holding = holdVerbs(rowport.workshop)
  const ground = (needs: Needs) => newGround(together, spreadsheetId, needs)
  const states = openStates(rowport)
  t.after(() => states.close())
  return { rowport, holding, ground, stateOf: states.stateOf }
}

/** null when the verb asks for less than that, and is over. */
async function stop(holding: Holding, question: number, verb: Verb, ground: Ground) {
  const held = holding.holdBefore(question)
  const answer = verb.run(ground)
  const name = await Promise.race([held.isReached, answer.then(() => null)])
  if (name === null) {
    held.release()
    return null
  }
  return { name, answer, release: held.release }
}
