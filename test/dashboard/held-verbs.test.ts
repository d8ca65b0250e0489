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
  type Ground,
  giveAddressToAnother,
  type Holding,
  holdVerbs,
  markOfOther,
  newGround,
  stateOf,
} from './held-verbs.ts'

/** The verbs of one provider stand for all: they are made by one function. */
const allRoutes = routesFor([providerTable.google])

interface Verb {
  needsGoogle?: true
  /** Only a sheet or a key of the owner's own can have come of it. */
  run(ground: Ground): Promise<{ status: number; text: string }>
}

const file = { provider: 'file', path: 'up.csv', tab: null }
const atGoogle = ({ spreadsheetId }: Ground) => ({ provider: 'google', spreadsheetId, tabId: 0 })
const calling = (method: string, path: string, body?: unknown): Verb => ({
  run: ({ owner, keyId }) => owner.call(method, path.replace('{id}', keyId), body),
})
/** For an owner with an address; where the account has ended meanwhile, there is none. */
const byMail = (
  method: string,
  path: string,
  bodyFor: (slug: string) => unknown = () => undefined,
): Verb => ({
  async run({ rowport, account, owner }) {
    const fresh = { email: `${account.slug}@x.org`, passwordHash: null, googleSubject: null }
    await rowport.workshop.store.createOwner({ accountId: account.id, ...fresh }).catch(() => null)
    return owner.call(method, path, bodyFor(account.slug))
  },
})
/** For a webhook of the account; where that has ended meanwhile, there is none. */
const ofWebhook = (method: string, path: string, body?: unknown): Verb => ({
  async run({ rowport, account, owner }) {
    const { store } = rowport.workshop
    const id = `wh_${account.slug.replaceAll('-', '')}`
    await store
      .createWebhook({
        ...{
          id,
          accountId: account.id,
          sheetId: null,
          url: 'https://hooks.invalid/',
          kinds: null,
          columns: null,
        },
        secret: { sealed: 'x', keyId: 'x' },
        place: { epoch: null, seq: 0 },
      })
      .catch(() => null)
    return owner.call(method, path.replace('{id}', id), body)
  },
})
const formField = { column: 'a', label: 'A', help: '', kind: 'text', isRequired: false, choices: [] } as const
const formSettings = {
  ...{ intro: '', fields: [formField], thanks: '', next: null, honeypot: '_gotcha', minSeconds: 0, set: [] },
  ...{ framedBy: [], origins: [], entriesPerMinute: 1, entriesPerHour: 1, captcha: null },
}
/** For a form of the account and an entry that is held; where that has ended meanwhile, there is none. */
const ofForm = (method: string, path: string, body?: unknown): Verb => ({
  async run({ rowport, account, owner }) {
    const { store } = rowport.workshop
    const [sheet] = await store.sheetsOf(account.id).catch(() => [])
    const wish = { accountId: account.id, sheetId: sheet?.id ?? '', name: 'f', settings: formSettings }
    const id = (await store.createForm(wish).catch(() => null))?.id ?? 'form_none'
    const entryToHold = { formId: id, name: { name: 'n' }, row: [['a', 'x']] as [string, string][] }
    await store.holdEntry({ ...entryToHold, reason: 'honeypot' }, { entries: 1, characters: 100 })
    const [entry] = await store.heldEntries(id)
    return owner.call(method, path.replace('{id}', id).replace('{entry}', entry?.id ?? 'entry_none'), body)
  },
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
  'PATCH /keys/{id}/policy': calling('PATCH', '/keys/{id}/policy', newPageKey.policy),
  'POST /keys/{id}/revoke': calling('POST', '/keys/{id}/revoke'),
  'POST /keys/{id}/regenerate': calling('POST', '/keys/{id}/regenerate'),
  'POST /keys/{id}/rotate': calling('POST', '/keys/{id}/rotate', { overlapSeconds: 3_600 }),
  'PATCH /keys/{id}': calling('PATCH', '/keys/{id}', { name: 'renamed', scope: 'read' }),
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
  'POST /forms/{id}': ofForm('POST', '/forms/{id}', { name: 'g', settings: formSettings }),
  'PATCH /forms/{id}': ofForm('PATCH', '/forms/{id}', { isOpen: false }),
  'POST /forms/{id}/remove': ofForm('POST', '/forms/{id}/remove'),
  'GET /forms/{id}/entries': ofForm('GET', '/forms/{id}/entries'),
  'POST /forms/{id}/entries/{entry}/release': ofForm('POST', '/forms/{id}/entries/{entry}/release'),
  'POST /forms/{id}/release': ofForm('POST', '/forms/{id}/release'),
  'POST /forms/{id}/entries/{entry}/discard': ofForm('POST', '/forms/{id}/entries/{entry}/discard'),
  'GET /webhooks': calling('GET', '/webhooks'),
  'POST /webhooks': calling('POST', '/webhooks', {
    ...{ sheetSlug: 's', url: 'https://1.1.1.1/hook', kinds: null, columns: null },
  }),
  'GET /webhooks/{id}/deliveries': ofWebhook('GET', '/webhooks/{id}/deliveries'),
  'PATCH /webhooks/{id}': ofWebhook('PATCH', '/webhooks/{id}', { isOn: false }),
  'POST /webhooks/{id}/test': ofWebhook('POST', '/webhooks/{id}/test'),
  'POST /webhooks/{id}/rotate': ofWebhook('POST', '/webhooks/{id}/rotate'),
  'POST /webhooks/{id}/replay': ofWebhook('POST', '/webhooks/{id}/replay', { since: 'earliest' }),
  'POST /webhooks/{id}/remove': ofWebhook('POST', '/webhooks/{id}/remove'),
  'GET /keys': calling('GET', '/keys'),
  'GET /files': calling('GET', '/files'),
  'POST /files/{name}/rename': calling('POST', '/files/up.csv/rename', { to: 'renamed.csv' }),
  'DELETE /files/{name}': calling('DELETE', '/files/up.csv'),
  'GET /files/{name}/content': calling('GET', '/files/up.csv/content'),
  'GET /shares': calling('GET', '/shares'),
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
  const { ground, holding, rowport } = await held(t)
  const points: Record<string, number> = {}
  for (const [name, verb] of Object.entries(verbs)) {
    for (let question = 0; ; question++) {
      const here = await ground(verb)
      const stopped = await stop(holding, question, verb, here)
      if (!stopped) break
      const other = await giveAddressToAnother(here)
      const before = await stateOf(rowport, other.id)
      stopped.release()
      const { status, text } = await stopped.answer
      const where = `${name}, held before question ${question} (${stopped.name}): ${status} ${text}`
      assert.deepEqual(await stateOf(rowport, other.id), before, where)
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
  const { ground, holding, rowport } = await held(t)
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
      const { hasFiles, ...left } = await stateOf(rowport, here.account.id)
      assert.deepEqual(left, { account: null, owner: null, sheets: [], keys: [], google: null }, where)
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
    const { ground, rowport } = await held(t)
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
    const before = await stateOf(rowport, other.id)
    sent.end('late\n')
    assert.equal(await promise, status)
    assert.deepEqual(await stateOf(rowport, other.id), before)
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
  const ground = ({ needsGoogle = false }: { needsGoogle?: boolean }) =>
    newGround(together, spreadsheetId, needsGoogle)
  return { rowport, holding, ground }
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
