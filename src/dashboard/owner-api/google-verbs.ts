import { z } from 'zod'
import { Problem } from '../../management/problem.ts'
import type { GoogleView, SpreadsheetChoice, TabsView } from '../contract.ts'
import { type Verbs, withInput } from './route.ts'

const connectInput = z.strictObject({ returnTo: z.enum(['/connect', '/settings']) })

export const googleVerbs = {
  'GET /google': {
    async owner({ session: { account } }, { google, sheets }) {
      const status = await google.status(account.id)
      const list = await sheets.list(account)
      const view: GoogleView = {
        isConfigured: google.isConfigured,
        connection: status && {
          email: status.label,
          state: status.state === 'connected' ? 'valid' : 'expired',
          reason: status.state === 'connected' ? null : reasonFor(status.endedReason),
          connectedAtMs: status.connectedAtMs,
          sheets: list.filter(({ credentialId }) => credentialId === status.credentialId).length,
          canSeeAllSpreadsheets: status.scopes.some((scope) => scope.endsWith('/auth/spreadsheets')),
        },
      }
      return { json: view }
    },
  },
  'POST /google/connect': {
    ...withInput(connectInput, async ({ session }, { returnTo }, { google }) => {
      const url = await google.start(session, returnTo)
      return url instanceof Problem ? url : { json: { url } }
    }),
  },
  'POST /google/disconnect': {
    needsRecentSignIn: true,
    async owner({ session }, { google }) {
      const outcome = await google.disconnect(session.account.id)
      if (outcome instanceof Problem) return outcome
      return { json: { isRevokedAtGoogle: outcome.isRevoked } }
    },
  },
  'GET /google/spreadsheets': {
    async owner({ session, query }, { googleSpreadsheets }) {
      const found = await googleSpreadsheets.list(session.account.id, (query.get('search') ?? '').trim())
      if (found instanceof Problem) return found
      // Where the consent does not reach to a list, a pasted link is the way.
      const spreadsheets = found === 'not_allowed' ? [] : found.spreadsheets
      const choices: SpreadsheetChoice[] = spreadsheets.map(({ spreadsheetId, title, modifiedAtMs }) => ({
        spreadsheetId,
        title,
        modifiedAtMs: modifiedAtMs || null,
      }))
      return { json: choices }
    },
  },
  'GET /google/spreadsheets/{pasted}/tabs': {
    async owner({ session, names: [pasted = ''] }, { googleSpreadsheets }) {
      const opened = await googleSpreadsheets.open(session.account.id, pasted)
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

function reasonFor(endedReason: string | null): string {
  if (endedReason === 'disconnected') return 'You disconnected it here.'
  return 'Google no longer accepts the permission: it was taken back there, or has run out.'
}
