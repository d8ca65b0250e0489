import { randomUUID } from 'node:crypto'
import type { Home, HomeParts } from '../../../src/assemble/homes.ts'
import { createAccessTokens } from '../../../src/providers/remote/access-tokens.ts'
import { createBreaker } from '../../../src/providers/remote/breaker.ts'
import { fieldsOf, listOf, parseJsonBytes, textOf } from '../../../src/providers/remote/json-fields.ts'
import { createBudget } from '../../../src/providers/remote/rations/budget.ts'
import { callLimits, createRemoteCalls } from '../../../src/providers/remote/remote-calls.ts'
import type { RemoteCall } from '../../../src/providers/remote/remote-exchange.ts'
import { isWholeJson, type RemoteProtocol } from '../../../src/providers/remote/remote-protocol.ts'
import { createRetryCredit } from '../../../src/providers/remote/retry-credit.ts'
import { createTransport, transportLimits } from '../../../src/providers/remote/transport.ts'
import type { Connection, ConnectionProblem, Grant } from '../../../src/sheets/connection.ts'
import type { Committed, Provider, TabPlace } from '../../../src/sheets/provider.ts'
import { ProviderFailure } from '../../../src/sheets/provider-failure.ts'
import type { ProviderKind } from '../../../src/sheets/provider-kind.ts'
import type { Cell } from '../../../src/sheets/rows/grid.ts'
import type { Store } from '../../../src/store/store.ts'
import { systemTimers } from '../../../src/timers.ts'
import { makeChanges } from './ledger-changes.ts'

/**
 * A third provider, as small as one can be: a remote sheet behind a bearer token. Everything that is not its own comes
 * from `providers/remote`, and nothing above providers knows that there is one.
 */
export const ledgerKind = {
  id: 'ledger',
  name: 'Ledger',
  title: 'Ledger books',
  connectsBy: ['key'],
  canBeListed: true,
  hasTabs: false,
  whenAccessEnded: 'Ledger does not let Rowport in any more; paste another token',
  describe(location: string) {
    const { spreadsheetId, title } = JSON.parse(location) as { spreadsheetId: string; title: string }
    return { words: title, tab: null, url: `https://ledger.example/${spreadsheetId}`, path: null }
  },
} as const satisfies ProviderKind

const ledgerRations = {
  perUser: { read: 600, write: 600 },
  perProject: { read: Number.POSITIVE_INFINITY, write: Number.POSITIVE_INFINITY },
}
const keyLifeSeconds = 3_600

export interface LedgerParts extends Pick<HomeParts, 'sealing' | 'clock' | 'observe' | 'share'> {
  store: Pick<Store, 'findCredential' | 'expireCredential'>
}

export function createLedger({ store, sealing, clock, observe, share }: LedgerParts, url: string): Home {
  const { id, name } = ledgerKind
  const timers = systemTimers
  const random = Math.random
  const transport = createTransport(transportLimits)
  const budget = createBudget({
    id,
    name,
    timers,
    random,
    limits: ledgerRations,
    onUsedUp() {},
    share,
  })
  // A key opens everything itself.
  const refresh = async (key: string) => ({ accessToken: key, expiresInSeconds: keyLifeSeconds })
  const calls = createRemoteCalls({
    protocol: ledgerProtocol,
    transport,
    tokens: createAccessTokens({ name, store, sealing, source: { refresh }, clock, observe }),
    budget,
    breaker: createBreaker({ name, clock, random, onRest() {} }),
    retryCredit: createRetryCredit(clock),
    clock,
    timers,
    random,
    limits: callLimits,
    onCalled() {},
  })
  const at = (path: string, credentialId: string | null, body?: unknown): RemoteCall<'books'> => ({
    credentialId,
    service: 'books',
    method: body === undefined ? 'GET' : 'POST',
    url: `${url}${path}`,
    ...(body === undefined ? {} : { body }),
  })
  const read = async (path: string, credentialId: string | null) =>
    fieldsOf(parseJsonBytes(await calls.callRead(at(path, credentialId))))
  const sheetAt = ({ location }: Pick<TabPlace, 'location'>) =>
    `/sheets/${(JSON.parse(location) as { spreadsheetId: string }).spreadsheetId}`

  const provider: Provider = {
    async fetch(place, { knownVersion }) {
      const bytes = await calls.callRead(at(sheetAt(place), place.credentialId))
      const version = String(fieldsOf(parseJsonBytes(bytes)).version)
      if (version === knownVersion) return 'unchanged'
      const module = new URL('./ledger-decode.ts', import.meta.url).href
      return { bytes, version, decoder: { module, name: 'decodeLedger', options: null } }
    },
    async prepare(place, changes, version) {
      const { credentialId } = place
      const now = await read(sheetAt(place), credentialId)
      if (String(now.version) !== version) return 'conflict'
      const fence = randomUUID()
      return {
        fence,
        expected: makeChanges(listOf(now.rows) as Cell[][], changes),
        isExact: true,
        async commit() {
          const asked = at(`${sheetAt(place)}/changes`, credentialId, { fence, version, changes })
          const told = fieldsOf(await calls.callWrite(asked))
          return told as unknown as Committed
        },
        async discard() {},
      }
    },
    async settle(place, fence) {
      const asked = at(`${sheetAt(place)}/settle`, place.credentialId, { fence })
      const { outcome } = fieldsOf(await calls.callWrite(asked))
      return outcome === 'applied' ? 'applied' : 'void'
    },
  }

  const connection: Connection = {
    kind: ledgerKind,
    words: {
      setUp: 'name the address of its ledgers',
      setUpDetails: 'The operator names the address of the ledgers.',
      notSetUp: 'This server knows no ledgers yet.',
      notALink: 'that is not the name of a ledger',
      endItThere: () => 'end the token where it was made',
      linkPattern: '^ledger\\d{4}$',
      key: {
        name: 'token',
        label: 'Token',
        hint: 'Make a token at your ledger and paste it here.',
        isFile: false,
      },
    },
    shareWith: () => null,
    canSeeAll: () => true,
    access: {
      entrances: {
        consent: null,
        key: { exchangeKey },
      },
      readsPublic: false,
      refresh,
      async revoke(key) {
        const { status } = await ask('POST', '/revoke', key).catch((cause: unknown) => {
          throw new ProviderFailure('the ledger cannot be reached', { isPassing: true, cause })
        })
        return status === 200
      },
      async listSpreadsheets(credentialId, search) {
        const { sheets } = await read('/sheets', credentialId)
        const spreadsheets = listOf(sheets).map((sheet) => {
          const { id: spreadsheetId, title } = fieldsOf(sheet)
          return { spreadsheetId: textOf(spreadsheetId) ?? '', title: textOf(title) ?? '', modifiedAtMs: 0 }
        })
        return {
          spreadsheets: spreadsheets.filter(({ title }) => title.includes(search)),
          nextPageToken: null,
        }
      },
      async listTabs(credentialId, spreadsheetId) {
        const { title, rows } = await read(`/sheets/${spreadsheetId}`, credentialId)
        const [header] = listOf(rows)
        const tab = { tabId: 0, title: textOf(title) ?? '', isHidden: false }
        return {
          title: tab.title,
          tabs: [{ ...tab, rows: listOf(rows).length, columns: listOf(header).length }],
        }
      },
      parsePasted: (pasted) =>
        /^ledger\d{4}$/.test(pasted.trim()) ? { spreadsheetId: pasted.trim() } : null,
      locate: ({ spreadsheetId, title }) => ({
        location: JSON.stringify({ spreadsheetId, title }),
        source: `ledger:${spreadsheetId}`,
      }),
    },
  }

  return {
    kind: ledgerKind,
    provider,
    connection,
    async close() {
      budget.close()
      transport.close()
    },
  }

  async function exchangeKey(key: string): Promise<Grant | ConnectionProblem> {
    const answer = await ask('GET', '/me', key).catch(() => null)
    if (!answer) return { problem: 'failed', words: 'the ledger cannot be reached. Nothing was saved' }
    const { id: subject, name: label } = fieldsOf(parseJsonBytes(answer.body))
    if (answer.status !== 200 || typeof subject !== 'string' || typeof label !== 'string')
      return { problem: 'denied', words: 'the ledger does not know this token. Nothing was saved' }
    return { token: key, scopes: [], subject, label }
  }

  function ask(method: 'GET' | 'POST', path: string, key: string) {
    const signal = AbortSignal.timeout(5_000)
    return transport.exchange({
      method,
      url: `${url}${path}`,
      headers: { Authorization: `Bearer ${key}` },
      signal,
    })
  }
}

const ledgerProtocol: RemoteProtocol<'books'> = {
  name: ledgerKind.name,
  isRationed: () => true,
  isWhole: isWholeJson,
  isUnauthenticated: ({ status }) => status === 401,
  endOfAccess: () => null,
  usedUpRation: ({ status }) => (status === 429 ? 'user' : null),
  isRefusal: ({ status }) => status < 500,
  failureOf: ({ status }) =>
    status === 404
      ? new ProviderFailure('the ledger has no such sheet')
      : new ProviderFailure('the ledger is not available at the moment', { isPassing: status >= 500 }),
  tooLarge: (cause) => new ProviderFailure('the ledger is too large to read', { cause }),
}
