import { z } from 'zod'
import type { OwnerConnection } from '../../management/connections/owner-connection.ts'
import { Problem } from '../../management/problem.ts'
import type { ConnectionView, DisconnectedView, SpreadsheetChoice, TabsView } from '../contract.ts'
import type { DashboardParts } from '../dashboard-parts.ts'
import { type ProviderVerb, type Verbs, withInput } from './route.ts'

const consentInput = z.strictObject({ returnTo: z.enum(['/connect', '/settings']) })
const keyInput = z.strictObject({ key: z.string('Paste a key.').min(1, 'Paste a key.').max(4_096) })

/** The verbs of one provider that owners connect. */
export function connectionVerbs(
  id: string,
  ways: readonly ('consent' | 'key')[],
): Partial<Pick<Verbs, ProviderVerb>> {
  const own = ({ connections }: DashboardParts): OwnerConnection => {
    const connection = connections.find(id)
    if (!connection) throw new Error(`There is no connection to "${id}"`)
    return connection
  }
  const byConsent = {
    'POST /{consentProvider}/connect': {
      ...withInput(consentInput, async ({ session }, { returnTo }, parts) => {
        const url = await own(parts).start(session, returnTo)
        return url instanceof Problem ? url : { json: { url } }
      }),
    },
  } satisfies Partial<Verbs>
  const byKey = {
    'POST /{keyProvider}/key': {
      ...withInput(keyInput, async ({ session }, { key }, parts) => {
        const wait = await parts.pace.takeKey(session.account)
        if (wait) return wait
        const connected = await own(parts).connectByKey(session, key)
        return connected instanceof Problem ? connected : { json: { email: connected.label } }
      }),
    },
  } satisfies Partial<Verbs>
  const byEither = {
    'GET /{provider}': {
      async owner({ session: { account } }, parts) {
        const connection = own(parts)
        const status = await connection.status(account.id)
        const list = await parts.sheets.list(account)
        const isConnected = status?.state === 'connected'
        const view: ConnectionView = {
          isConfigured: connection.ways.length > 0,
          connection: status && {
            email: status.label,
            state: isConnected ? 'valid' : 'expired',
            reason: isConnected ? null : reasonFor(connection, status.endedReason),
            connectedAtMs: status.connectedAtMs,
            sheets: list.filter(({ credentialId }) => credentialId === status.credentialId).length,
            canSeeAllSpreadsheets: status.canSeeAllSpreadsheets,
            shareWith: status.shareWith,
          },
        }
        return { json: view }
      },
    },
    'POST /{provider}/disconnect': {
      needsRecentSignIn: true,
      async owner({ session }, parts) {
        const connection = own(parts)
        const outcome = await connection.disconnect(session.account.id)
        if (outcome instanceof Problem) return outcome
        const { isRevoked, endItThere } = outcome
        const told: Record<`isRevokedAt${string}`, boolean> = {
          [`isRevokedAt${connection.kind.name}`]: isRevoked,
        }
        const view: DisconnectedView = { ...told, endItThere }
        return { json: view }
      },
    },
    'GET /{provider}/spreadsheets': {
      async owner({ session, query }, parts) {
        const { spreadsheets } = own(parts)
        const found = await spreadsheets.list(session.account.id, (query.get('search') ?? '').trim())
        if (found instanceof Problem) return found
        // Where the access does not reach to a list, a pasted link is the way.
        const listed = found === 'not_allowed' ? [] : found.spreadsheets
        const choices: SpreadsheetChoice[] = listed.map(({ spreadsheetId, title, modifiedAtMs }) => ({
          spreadsheetId,
          title,
          modifiedAtMs: modifiedAtMs || null,
        }))
        return { json: choices }
      },
    },
    'GET /{provider}/spreadsheets/{pasted}/tabs': {
      async owner({ session, names: [pasted = ''] }, parts) {
        const opened = await own(parts).spreadsheets.open(session.account.id, pasted)
        if (opened instanceof Problem) return opened
        const { spreadsheetId, title, tabs, linkedTabId } = opened
        const view: TabsView = {
          spreadsheetId,
          title,
          tabs: tabs.map(({ tabId, title: name, rows, columns }) => ({ tabId, title: name, rows, columns })),
          preferredTabId: linkedTabId,
        }
        return { json: view }
      },
    },
  } satisfies Partial<Verbs>
  return {
    ...byEither,
    ...(ways.includes('consent') && byConsent),
    ...(ways.includes('key') && byKey),
  }
}

function reasonFor({ kind: { name } }: OwnerConnection, endedReason: string | null): string {
  if (endedReason === 'disconnected') return 'You disconnected it here.'
  return `${name} access was revoked or has expired.`
}
