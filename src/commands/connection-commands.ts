import type { Workshop } from '../assemble/workshop.ts'
import type { ConnectionStatus, OwnerConnection } from '../management/connections/owner-connection.ts'
import { Problem } from '../management/problem.ts'
import type { ProviderKind } from '../sheets/provider-kind.ts'
import type { Command } from './command.ts'

/** The operator's commands for one provider that owners connect, under its id. */
export function connectionCommands({ id }: ProviderKind): Command[] {
  return [
    {
      words: [id, 'status'],
      usage: `${id} status <account>`,
      positionals: ['<account>'],
      options: [],
      async run(workshop, [slug = '']) {
        const account = await workshop.accounts.find(slug)
        if (account instanceof Problem) return account
        const connection = connectionTo(id, workshop)
        const status = await connection.status(account.id)
        return { json: statusJson(connection, status), text: statusText(connection, slug, status) }
      },
    },
    {
      words: [id, 'disconnect'],
      usage: `${id} disconnect <account>`,
      positionals: ['<account>'],
      options: [],
      async run(workshop, [slug = '']) {
        const account = await workshop.accounts.find(slug)
        if (account instanceof Problem) return account
        return disconnect(connectionTo(id, workshop), account)
      },
    },
  ]
}

export function connectionTo(id: string, { connections }: Workshop): OwnerConnection {
  const connection = connections.find(id)
  if (!connection) throw new Error(`There is no connection to "${id}"`)
  return connection
}

async function disconnect(
  { kind: { id, name }, words, disconnect }: OwnerConnection,
  account: { id: string; slug: string },
) {
  const outcome = await disconnect(account.id)
  if (outcome instanceof Problem) return outcome
  const { label, isRevoked } = outcome
  const there = isRevoked
    ? `${name} has withdrawn the access as well.`
    : `${name} could not be told: the owner can ${words.endItThere}.`
  return {
    json: { connected: false, [`${id}_account`]: label, [`revoked_at_${id}`]: isRevoked },
    text: `Account ${account.slug} is disconnected from ${label}; its sheets answer token_expired. ${there}`,
  }
}

function statusJson({ kind: { id } }: OwnerConnection, status: ConnectionStatus | null) {
  if (!status) return { connected: false, [`${id}_account`]: null }
  const { state, label, scopes, connectedAtMs } = status
  return {
    connected: state === 'connected',
    [`${id}_account`]: label,
    scopes,
    connected_at: new Date(connectedAtMs).toISOString(),
  }
}

function statusText(
  { kind: { name } }: OwnerConnection,
  slug: string,
  status: ConnectionStatus | null,
): string {
  const link = `For a link to connect it: rowport account link ${slug}`
  if (!status) return `Account ${slug} is not connected to ${name}. ${link}`
  const { state, label, connectedAtMs } = status
  if (state === 'ended')
    return `Account ${slug} was connected to ${label} and needs to connect again. ${link}`
  return `Account ${slug} is connected to ${label}, since ${new Date(connectedAtMs).toISOString().slice(0, 10)}.`
}
