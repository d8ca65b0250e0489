import { createMovableClock } from '../../../src/clock.ts'
import { createOwnValues } from '../../../src/shared-state/registers/own-values.fixture.ts'
import { providerContract } from '../../../src/sheets/provider.contract.ts'
import { createMemoryCredentials, sealing } from '../../google/memory-credentials.ts'
import { createLedger } from './ledger.ts'
import { startLedgerServer } from './ledger-server.ts'

providerContract(
  'ledger',
  async (t, rows) => {
    const server = await startLedgerServer(t)
    const store = createMemoryCredentials()
    const clock = createMovableClock(0)
    const parts = { store, sealing, clock, observe() {}, share: createOwnValues(clock) }
    const { provider, connection, close } = createLedger(parts, server.url)
    t.after(close)
    const credentialId = store.connect({ subject: 'ada', refreshToken: server.grant('ada') })
    const id = server.create('ada', 'Book', rows)
    const tab = { spreadsheetId: id, tabId: 0, title: 'Book', tabTitle: 'Book' }
    const location = connection?.access?.locate(tab).location ?? ''
    return {
      provider,
      place: { accountId: 'ac_1', credentialId, location },
      editOutside: async (after) => server.edit(id, after),
      remove: async () => server.remove(id),
    }
  },
  { write: true },
)
