import type { Workshop } from '../assemble/workshop.ts'
import type { GoogleStatus } from '../management/connections/google-connection.ts'
import { Problem } from '../management/problem.ts'
import type { Command } from './command.ts'

export const googleCommands: readonly Command[] = [
  {
    words: ['google', 'status'],
    usage: 'google status <account>',
    positionals: ['<account>'],
    options: [],
    async run({ accounts, google }, [slug = '']) {
      const account = await accounts.find(slug)
      if (account instanceof Problem) return account
      const status = await google.status(account.id)
      return { json: statusJson(status), text: statusText(slug, status) }
    },
  },
  {
    words: ['google', 'disconnect'],
    usage: 'google disconnect <account>',
    positionals: ['<account>'],
    options: [],
    run: disconnect,
  },
]

async function disconnect({ accounts, google }: Workshop, [slug = '']: readonly string[]) {
  const account = await accounts.find(slug)
  if (account instanceof Problem) return account
  const outcome = await google.disconnect(account.id)
  if (outcome instanceof Problem) return outcome
  const { label, isRevoked } = outcome
  const atGoogle = isRevoked
    ? 'Google has withdrawn the access as well.'
    : 'Google could not be told: the owner can remove Rowport at https://myaccount.google.com/connections.'
  return {
    json: { connected: false, google_account: label, revoked_at_google: isRevoked },
    text: `Account ${slug} is disconnected from ${label}; its sheets answer token_expired. ${atGoogle}`,
  }
}

function statusJson(status: GoogleStatus | null) {
  if (!status) return { connected: false, google_account: null }
  const { state, label, scopes, connectedAtMs } = status
  return {
    connected: state === 'connected',
    google_account: label,
    scopes,
    connected_at: new Date(connectedAtMs).toISOString(),
  }
}

function statusText(slug: string, status: GoogleStatus | null): string {
  const link = `For a link to connect it: rowport account link ${slug}`
  if (!status) return `Account ${slug} is not connected to Google. ${link}`
  const { state, label, connectedAtMs } = status
  if (state === 'ended')
    return `Account ${slug} was connected to ${label} and needs to connect again. ${link}`
  return `Account ${slug} is connected to ${label}, since ${new Date(connectedAtMs).toISOString().slice(0, 10)}.`
}
