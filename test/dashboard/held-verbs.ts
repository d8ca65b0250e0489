import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Workshop } from '../../src/assemble/workshop.ts'
import type { FormSettings } from '../../src/store/forms/forms.ts'
import { newId } from '../../src/store/new-id.ts'
import type { Store } from '../../src/store/store.ts'
import { ownPage, signedIn, type Visitor } from '../connect/visitor.ts'
import type { Together } from '../connect/with-google.ts'
import { done, type Rowport } from '../harness.ts'

/**
 * What goes on in the store beside the verbs of owners. Everything else that can be asked of it is held, also what is
 * new in it, so that no verb is missed because nobody thought of it here.
 */
const besideVerbs: readonly (keyof Store)[] = [
  // The public doors, how often somebody may ask, and which server does what.
  ...(['lookUp', 'lookUpKey', 'noteKeysUsed', 'chargeAhead', 'refundCharge', 'chargePublicAhead'] as const),
  ...(['refundPublicCharge', 'takeWindow', 'takeWindowBefore', 'takeFromOpenWindow', 'lookWindow'] as const),
  ...(['countOfLastWindow', 'readRegister', 'swapRegister', 'takeLease', 'renewLease', 'endLease'] as const),
  ...(['stayAlive', 'endInstance', 'endDeadNeighbours', 'livingInstances', 'ping', 'close'] as const),
  // Rounds that go by the time.
  ...(['addUsage', 'forgetUsageBefore', 'forgetOldWindows', 'forgetOldRegisters'] as const),
  ...(['forgetOldLeases', 'forgetOldOperations', 'freeAbandonedKeys', 'abandonedOperations'] as const),
  ...(['forgetOldChanges', 'accountsWithDueMail', 'takeDueMail', 'removeMail', 'postponeMail'] as const),
  ...(['releasedEntries', 'endedConnectionsToTell', 'sheetsToTell', 'quotasToTell'] as const),
  ...(['offWebhooksToTell', 'tellOffWebhook', 'tellEndedConnection', 'tellSheet', 'tellQuota'] as const),
  ...(['takeWebhooks', 'sheetsWithWebhooks', 'releaseWebhook', 'connectionNews', 'quotaNews'] as const),
  ...(['sheetNewsForWebhooks', 'heldNews', 'addWebhookEvent', 'noteFollowed', 'takeDueLooks'] as const),
]

/** Stops a verb in its middle: before the n-th thing that it asks of the store, or of the provider. */
export interface Holding {
  holdBefore(question: number): Held
}

export interface Held {
  isReached: Promise<string>
  release(): void
}

export function holdVerbs({ store, providers }: Workshop): Holding {
  let asked = 0
  let stop: { before: number; reached(name: string): void; released: Promise<void> } | null = null
  const changeable = store as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  for (const [name, ask] of Object.entries(changeable)) {
    const isBeside = besideVerbs.some((beside) => beside === name)
    if (typeof ask === 'function' && !isBeside) changeable[name] = holdable(name, ask)
  }
  for (const [name, provider] of providers) {
    const fetching = provider as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
    fetching.fetch = holdable(`fetch from ${name}`, fetching.fetch)
  }

  return {
    holdBefore(question) {
      const reached = Promise.withResolvers<string>()
      const released = Promise.withResolvers<void>()
      asked = 0
      stop = { before: question, reached: reached.resolve, released: released.promise }
      return { isReached: reached.promise, release: () => released.resolve() }
    },
  }

  function holdable(name: string, original: ((...args: unknown[]) => Promise<unknown>) | undefined) {
    if (!original) throw new Error(`Nobody asks for ${name} any more`)
    return async (...args: unknown[]) => {
      if (stop && asked++ === stop.before) {
        const { reached, released } = stop
        stop = null
        reached(name)
        await released
      }
      return original(...args)
    }
  }
}

/** An owner with a sheet `s`, a key, an uploaded file `up.csv`, and more where it is needed. */
export interface Ground {
  rowport: Rowport
  account: { id: string; slug: string }
  owner: Visitor
  keyId: string
  needsForm: boolean
  formId: string
  entryId: string
  webhookId: string
  /** Where Google has sent the owner back to. */
  wayBack: string
  /** Of a service account. */
  keyFile: string
  spreadsheetId: string
}

let grounds = 0
let keyFile = ''

export const formSettings: FormSettings = {
  ...{ intro: '', thanks: '', next: null, honeypot: '_gotcha', minSeconds: 0, set: [], framedBy: [] },
  fields: [{ column: 'name', label: 'Name', help: '', kind: 'text', isRequired: false, choices: [] }],
  ...{ origins: [], entriesPerMinute: 1, entriesPerHour: 1, captcha: null },
}

export interface Needs {
  needsGoogle?: true
  needsMailAddress?: true
  /** A form that holds an entry, and a webhook. */
  needsForm?: boolean
}

export async function newGround(
  together: Together,
  spreadsheetId: string,
  { needsGoogle, needsMailAddress, needsForm = false }: Needs,
): Promise<Ground> {
  const { rowport } = together
  const slug = `corp-${++grounds}`
  const account = done(await rowport.workshop.accounts.create(slug, 'enterprise'))
  const owner = await signedIn(rowport, slug)
  await rowport.connectFile('s', `${slug}.csv`, 'name\nof their own\n', { account: slug })
  const { id: keyId } = await rowport.createKey({ account: slug, sheet: 's' })
  const made = needsForm ? await makeFormAndWebhook(rowport, account.id, 'own') : noForm
  await uploaded(rowport, owner, 'name\nuploaded\n')
  if (needsMailAddress) {
    const person = { email: `${slug}@x.org`, passwordHash: null, googleSubject: null }
    await rowport.workshop.store.createOwner({ accountId: account.id, ...person })
  }
  let wayBack = ''
  if (needsGoogle) {
    // All of them are the same person at Google, whose ration of reads is for a minute.
    rowport.clock.advanceMs(61_000)
    await together.connect(owner)
    const { pathname, search } = await together.askGoogle(owner)
    wayBack = pathname + search
  }
  // One for all: making a key takes a while.
  keyFile ||= JSON.stringify(await together.google.control('POST', 'service-accounts', {}))
  return { ...made, needsForm, rowport, account, owner, keyId, wayBack, keyFile, spreadsheetId }
}

const noForm = { formId: '', entryId: '', webhookId: '' }

async function makeFormAndWebhook({ workshop: { store } }: Rowport, accountId: string, mark: string) {
  const [sheet] = await store.sheetsOf(accountId)
  if (!sheet) throw new Error('The account has no sheet')
  const form = await store.createForm({ accountId, sheetId: sheet.id, name: mark, settings: formSettings })
  const entry = { formId: form.id, name: { name: 'n' }, reason: 'honeypot', row: [['name', mark]] } as const
  await store.holdEntry(entry, { entries: 1, characters: 100 })
  const [held] = await store.heldEntries(form.id)
  const webhook = await store.createWebhook({
    ...{ id: newId('wh'), accountId, sheetId: null, kinds: null, columns: null },
    url: `https://hooks.invalid/${mark}`,
    secret: { sealed: 'x', keyId: 'x' },
    place: { epoch: null, seq: 0 },
  })
  // So that no round of the server's own tells it anything meanwhile.
  await store.setWebhookState(webhook.id, 'paused')
  return { formId: form.id, entryId: held?.id ?? '', webhookId: webhook.id }
}

async function uploaded(rowport: Rowport, { cookie }: Visitor, body: string): Promise<void> {
  const headers = { Cookie: cookie, ...ownPage }
  const answer = await fetch(`${rowport.url}/dashboard/api/files?name=up.csv`, {
    method: 'POST',
    body,
    headers,
  })
  if (answer.status !== 201) throw new Error(await answer.text())
}

export const markOfOther = 'of somebody else'

/** The account is renamed, and somebody else gets its address, as they could when its time is over. */
export async function giveAddressToAnother({ rowport, account, needsForm }: Ground): Promise<{ id: string }> {
  const { accounts } = rowport.workshop
  const current = await rowport.workshop.store.accountById(account.id)
  if (!current) throw new Error('The account is gone')
  done(await accounts.rename(current, `${account.slug}-renamed`))
  endReservations(rowport)
  const other = done(await accounts.create(account.slug, 'enterprise'))
  const slug = account.slug
  await rowport.connectFile('s', `${slug}-other.csv`, `name\n${markOfOther}\n`, { account: slug })
  await rowport.createKey({ account: slug, sheet: 's' })
  if (needsForm) await makeFormAndWebhook(rowport, other.id, markOfOther)
  return other
}

function endReservations({ folder }: Rowport): void {
  const database = new DatabaseSync(join(folder, 'rowport.db'), { timeout: 5_000 })
  database.exec('delete from former_slug')
  database.close()
}

/** What belongs to one of these names it, and not the account. */
const owners = ['account', 'sheet', 'form', 'webhook', 'credential']

/** All that is kept of an account: each row that names it, or something of it, whatever the table; and its files. */
export function openStates({ folder }: Rowport) {
  const database = new DatabaseSync(join(folder, 'rowport.db'), { readOnly: true, timeout: 5_000 })
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all()
  const idsOf = (table: string) =>
    `select id from ${table} where ${table === 'account' ? 'id' : 'account_id'} = $account`
  const questions = tables.flatMap(({ name }) => {
    const columns = database.prepare('select name from pragma_table_info(?)').all(`${name}`)
    const namesOwner = owners.filter((owner) => columns.some((column) => column.name === `${owner}_id`))
    const conditions = namesOwner.map((owner) => `${owner}_id in (${idsOf(owner)})`)
    // What is left of an account that has ended still names it.
    if (namesOwner.includes('account')) conditions.push('account_id = $account')
    if (name === 'account') conditions.push('id = $account')
    if (conditions.length === 0) return []
    return [
      { name: `${name}`, rows: database.prepare(`select * from ${name} where ${conditions.join(' or ')}`) },
    ]
  })
  return {
    stateOf(accountId: string) {
      const state: Record<string, unknown[]> = {}
      for (const { name, rows } of questions) {
        const found = rows.all({ $account: accountId })
        if (found.length > 0) state[name] = found
      }
      const files = join(folder, 'files', accountId)
      if (existsSync(files)) state.files = readdirSync(files).sort()
      return state
    },
    close: () => database.close(),
  }
}
