import type { OwnLimits } from '../management/accounts/accounts.ts'
import { signInUrl } from '../management/people/sign-in.ts'
import { Problem } from '../management/problem.ts'
import type { AccountRecord } from '../store/accounts/accounts.ts'
import { type Command, positiveNumber, table, UsageError } from './command.ts'

export const accountCommands: readonly Command[] = [
  {
    words: ['account', 'create'],
    usage: 'account create <slug> [--plan <plan>]',
    positionals: ['<slug>'],
    options: ['plan'],
    async run({ accounts }, [slug = ''], { plan }) {
      const account = await accounts.create(slug, plan ?? null)
      if (account instanceof Problem) return account
      return { json: accountJson(account), text: `Created account ${slug} on the ${account.plan} plan.` }
    },
  },
  {
    words: ['account', 'list'],
    usage: 'account list',
    positionals: [],
    options: [],
    async run({ accounts }) {
      const list = await accounts.list()
      const lines = list.map(({ id, slug, plan, sheetCount, createdAtMs }) => [
        slug,
        plan,
        String(sheetCount),
        id,
        new Date(createdAtMs).toISOString().slice(0, 10),
      ])
      return {
        json: list.map(({ sheetCount, ...account }) => ({ ...accountJson(account), sheets: sheetCount })),
        text: table(['account', 'plan', 'sheets', 'id', 'created'], lines, 'No accounts yet.'),
      }
    },
  },
  {
    words: ['account', 'delete'],
    usage: 'account delete <slug> --confirm <slug>',
    positionals: ['<slug>'],
    options: ['confirm'],
    async run({ accounts, endAccount }, [slug = ''], { confirm }) {
      const account = await accounts.find(slug)
      if (account instanceof Problem) return account
      if (confirm !== slug) {
        throw new UsageError(
          `This deletes ${slug} with its sheets, keys, uploaded files and connections for good; spreadsheets stay as they are. To do it, add --confirm ${slug}.`,
        )
      }
      const problem = await endAccount(account, confirm)
      if (problem) return problem
      return { json: { id: account.id, slug, deleted: true }, text: `Deleted account ${slug}.` }
    },
  },
  {
    words: ['account', 'plan'],
    usage: 'account plan <slug> <plan> [--per-minute <n>] [--per-month <n>]',
    positionals: ['<slug>', '<plan>'],
    options: ['per-minute', 'per-month'],
    async run({ accounts }, [slug = '', plan = ''], options) {
      const own = {
        requestsPerMinute: positiveNumber('per-minute', options),
        requestsPerMonth: positiveNumber('per-month', options),
      }
      const account = await accounts.setPlan(slug, plan, own)
      if (account instanceof Problem) return account
      return { json: accountJson(account), text: `${slug} is now on the ${plan} plan${ownLimits(own)}.` }
    },
  },
  {
    words: ['account', 'link'],
    usage: 'account link <slug>',
    positionals: ['<slug>'],
    options: [],
    async run({ signIn, baseUrl }, [slug = '']) {
      const link = await signIn.createLink(slug)
      if (link instanceof Problem) return link
      const url = signInUrl(baseUrl, link)
      return {
        json: { url, expires_at: new Date(link.expiresAtMs).toISOString() },
        text: `This link signs you in to ${slug}. It works once and expires in 15 minutes:\n\n  ${url}\n`,
      }
    },
  },
]

function accountJson({ id, slug, plan, requestsPerMinute, requestsPerMonth, createdAtMs }: AccountRecord) {
  return {
    id,
    slug,
    plan,
    requests_per_minute: requestsPerMinute,
    requests_per_month: requestsPerMonth,
    created_at: new Date(createdAtMs).toISOString(),
  }
}

function ownLimits({ requestsPerMinute, requestsPerMonth }: OwnLimits): string {
  const limits = []
  if (requestsPerMinute !== null) limits.push(`${requestsPerMinute} requests/minute`)
  if (requestsPerMonth !== null) limits.push(`${requestsPerMonth} requests/month`)
  return limits.length > 0 ? `, with a custom limit of ${limits.join(' and ')}` : ''
}
