import { z } from 'zod'
import { exportAccount, exportUsage } from '../../management/accounts/account-export.ts'
import { nameOfCounted } from '../../management/accounts/usage-figures.ts'
import { Problem } from '../../management/problem.ts'
import type { AuditEntryView, ShareView, UsageView, UsedUpSharesView } from '../contract.ts'
import type { DashboardParts, ExportToMake } from '../dashboard-parts.ts'
import { sessionCookieEnd } from '../session-cookie.ts'
import { MadeAnswer, type OwnerCall, type Verbs, withInput } from './route.ts'
import { sessionView } from './session-verbs.ts'

const renameInput = z.strictObject({ slug: z.string('Choose a name.').max(100) })
const deleteInput = z.strictObject({ confirmSlug: z.string().max(100) })
const maxDays = 400
const usualDays = 30

/** The account as a whole, and its figures. */
export const accountVerbs = {
  'PATCH /account': {
    ...withInput(renameInput, async ({ session }, { slug }, parts) => {
      const account = await parts.accounts.rename(session.account, slug)
      return account instanceof Problem
        ? account
        : { json: await sessionView({ ...session, account }, parts) }
    }),
  },
  'POST /account/delete': {
    needsRecentSignIn: true,
    ...withInput(deleteInput, async ({ site, session }, { confirmSlug }, { endAccount }) => {
      const problem = await endAccount(session.account, confirmSlug)
      return problem ?? { json: null, cookie: sessionCookieEnd(site) }
    }),
  },
  'GET /export': {
    async owner({ session: { account }, left }, parts) {
      return new MadeAnswer(await parts.exporting.begin(account.id, left, () => toExport(account, parts)))
    },
  },
  'GET /usage': {
    async owner({ session: { account }, query }, { sheets, keys, usageFigures }) {
      const list = await sheets.list(account)
      const slug = query.get('sheet') ?? ''
      const sheet = list.find((one) => one.slug === slug)
      if (slug !== '' && !sheet) return new Problem('There is no such sheet.', { kind: 'not_found' })
      const report = await usageFigures.report(account, {
        days: daysIn(query.get('days')),
        sheetId: sheet?.id ?? null,
        keyId: query.get('key') || null,
      })
      const slugs = new Map(list.map((one) => [one.id, one.slug]))
      const names = await keys.namesOf(account.id, slugs)
      const view: UsageView = {
        ...report,
        bySheet: [...report.bySheet].flatMap(([id, sum]) => {
          if (id === '') return []
          return [{ slug: slugs.get(id) ?? `disconnected (${id.slice(-4)})`, ...sum }]
        }),
        byKey: [...report.byKey].map(([id, sum]) => ({
          id: id === '' ? null : id,
          name: nameOfCounted(id, names),
          ...sum,
        })),
      }
      return { json: view }
    },
  },
  'GET /audit': {
    async owner({ session: { account } }, { audit }) {
      const entries = await audit.of(account.id)
      const views: AuditEntryView[] = entries.map(({ details, ...entry }) => ({
        ...entry,
        details: details === null ? null : (JSON.parse(details) as Record<string, unknown>),
      }))
      return { json: views }
    },
  },
  'GET /shares': {
    async owner({ session: { account } }, { shareUse }) {
      const views: ShareView[] = await shareUse.of(account.id)
      return { json: views }
    },
  },
  'GET /shares/used-up': {
    async owner({ session: { account } }, { shareUse }) {
      const view: UsedUpSharesView = shareUse.usedUpLately(account.id)
      return { json: view }
    },
  },
} satisfies Partial<Verbs>

async function toExport(
  account: OwnerCall['session']['account'],
  { sheets, keys, webhooks, connections, owners, usageFigures, clock }: DashboardParts,
): Promise<ExportToMake> {
  const list = await sheets.list(account)
  const data = {
    account,
    owner: await owners.of(account.id),
    connections: await Promise.all(
      connections.all.map(async ({ kind, status }) => ({
        provider: kind.id,
        status: await status(account.id),
      })),
    ),
    sheets: list.map((sheet) => ({ ...sheet, place: sheets.describe(sheet) })),
    keys: await keys.list(account),
    webhooks: await webhooks.list(account),
  }
  return {
    json: JSON.stringify(exportAccount(data, clock.nowMs()), null, 2),
    usage: exportUsage(usageFigures.everything(account.id), data),
    sheets: list,
    fileName: `rowport-${account.slug}.json`,
  }
}

function daysIn(text: string | null): number {
  const days = /^[1-9][0-9]{0,2}$/.test(text ?? '') ? Number(text) : usualDays
  return Math.min(days, maxDays)
}
