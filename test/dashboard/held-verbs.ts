import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Workshop } from '../../src/assemble/workshop.ts'
import { ownPage, signedIn, type Visitor } from '../connect/visitor.ts'
import type { Together } from '../connect/with-google.ts'
import { done, type Rowport } from '../harness.ts'

/** All that verbs of the owner's API ask of the store; what goes on beside them (figures, leases, windows) is not held. */
const heldQuestions = [
  'findSession',
  'findAccount',
  'accountById',
  'renameAccount',
  'deleteAccount',
  'ownerOf',
  'ownerByEmail',
  'createOwner',
  'setPassword',
  'setEmail',
  'setAlerts',
  'createMailLink',
  'addMail',
  'createSession',
  'createSessionByPassword',
  'endSession',
  'endSessionsOf',
  'createSheet',
  'findSheet',
  'sheetsOf',
  'sheetsOfSource',
  'relocateSheets',
  'changeSheet',
  'deleteSheet',
  'createKey',
  'findKey',
  'keysOf',
  'revokeKey',
  'replaceKey',
  'changeKey',
  'putConsoleKey',
  'credentialOf',
  'saveCredential',
  'forgetCredential',
  'createConnectAttempt',
  'takeConnectAttempt',
  'activityOf',
  'recentRequests',
  'usageSince',
  'endOfSpan',
  'usageOfSheets',
  'usageOfKeys',
  'latenciesIn',
  'providerCallsIn',
  'addAuditEntry',
  'auditEntriesOf',
] as const

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
  for (const name of heldQuestions) changeable[name] = holdable(name, changeable[name])
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

/** An owner with a sheet `s`, a key, an uploaded file `up.csv`, and Google where it is needed. */
export interface Ground {
  rowport: Rowport
  account: { id: string; slug: string }
  owner: Visitor
  keyId: string
  /** Where Google has sent the owner back to. */
  wayBack: string
  /** Of a service account. */
  keyFile: string
  spreadsheetId: string
}

let grounds = 0
let keyFile = ''

export async function newGround(together: Together, spreadsheetId: string, needsGoogle: boolean) {
  const { rowport } = together
  const slug = `corp-${++grounds}`
  const account = done(await rowport.workshop.accounts.create(slug, 'enterprise'))
  const owner = await signedIn(rowport, slug)
  await rowport.connectFile('s', `${slug}.csv`, 'name\nof their own\n', { account: slug })
  const { id: keyId } = await rowport.createKey({ account: slug, sheet: 's' })
  await uploaded(rowport, owner, 'name\nuploaded\n')
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
  return { rowport, account, owner, keyId, wayBack, keyFile, spreadsheetId }
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
export async function giveAddressToAnother({ rowport, account }: Ground): Promise<{ id: string }> {
  const { accounts } = rowport.workshop
  const current = await rowport.workshop.store.accountById(account.id)
  if (!current) throw new Error('The account is gone')
  done(await accounts.rename(current, `${account.slug}-renamed`))
  endReservations(rowport)
  const other = done(await accounts.create(account.slug, 'enterprise'))
  const slug = account.slug
  await rowport.connectFile('s', `${slug}-other.csv`, `name\n${markOfOther}\n`, { account: slug })
  await rowport.createKey({ account: slug, sheet: 's' })
  return other
}

function endReservations({ folder }: Rowport): void {
  const database = new DatabaseSync(join(folder, 'rowport.db'), { timeout: 5_000 })
  database.exec('delete from former_slug')
  database.close()
}

/** All that could have been done to an account. */
export async function stateOf({ workshop, folder }: Rowport, accountId: string) {
  const { store } = workshop
  return {
    account: await store.accountById(accountId),
    owner: await store.ownerOf(accountId),
    sheets: await store.sheetsOf(accountId),
    keys: await store.keysOf(accountId),
    google: await store.credentialOf(accountId, 'google'),
    hasFiles: existsSync(join(folder, 'files', accountId)),
  }
}
