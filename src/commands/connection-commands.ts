import { readFile } from 'node:fs/promises'
import type { Workshop } from '../assemble/workshop.ts'
import type { ConnectionStatus, OwnerConnection } from '../management/connections/owner-connection.ts'
import { Problem } from '../management/problem.ts'
import type { ProvenAssumption } from '../sheets/proof.ts'
import type { ProviderKind } from '../sheets/provider-kind.ts'
import { type Command, fileArgument, table, UsageError } from './command.ts'

/** The operator's commands for one provider that owners connect, under its id. */
export function connectionCommands(kind: ProviderKind): Command[] {
  const { id, keyCommand, canBeProven } = kind
  return [
    ...(keyCommand === undefined ? [] : [addKey(kind, keyCommand)]),
    ...(canBeProven ? [prove(kind)] : []),
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

function addKey({ id, name }: ProviderKind, keyCommand: string): Command {
  return {
    words: [id, keyCommand, 'add'],
    usage: `${id} ${keyCommand} add <account> <file>`,
    positionals: ['<account>', fileArgument],
    options: [],
    async run(workshop, [slug = '', file = '']) {
      const account = await workshop.accounts.find(slug)
      if (account instanceof Problem) return account
      const key = await readFile(file, 'utf8').catch(() => null)
      if (key === null) return new Problem(`there is no file "${file}" that can be read`)
      const connection = connectionTo(id, workshop)
      const connected = await connection.addKey(account.id, key)
      if (connected instanceof Problem) return connected
      const status = await connection.status(account.id)
      const shareWith = status?.shareWith ?? null
      const next = shareWith === null ? '' : ` Share your spreadsheets with ${shareWith}.`
      return {
        json: { ...statusJson(connection, status), share_with: shareWith },
        text: `Account ${slug} is connected to ${name} as ${connected.label}.${next}`,
      }
    },
  }
}

function prove({ id }: ProviderKind): Command {
  return {
    words: [id, 'prove'],
    usage: `${id} prove <account> --spreadsheet <url>`,
    positionals: ['<account>'],
    options: ['spreadsheet'],
    async run(workshop, [slug = ''], { spreadsheet }) {
      if (spreadsheet === undefined) throw new UsageError('--spreadsheet is missing.')
      const account = await workshop.accounts.find(slug)
      if (account instanceof Problem) return account
      const proven = await connectionTo(id, workshop).prove(account.id, spreadsheet)
      if (proven instanceof Problem) return proven
      const failed = proven.filter(({ holds }) => holds === false)
      const all = table(
        ['holds', 'assumption', 'seen'],
        proven.map(({ holds, assumes, saw }) => [verdictOf(holds), assumes, saw]),
        '',
      )
      const off = await connectionTo(id, workshop).switchedOff()
      return {
        json: { proven: failed.length === 0, assumptions: proven, switched_off: off },
        text: [
          all,
          ...failed.map(explainAssumption),
          ...off.map(({ what }) => `\n${capital(what)}.`),
          '',
        ].join('\n'),
        hasFailed: failed.length > 0,
      }
    },
  }
}

function explainAssumption({ assumes, because, otherwise, switchesOff }: ProvenAssumption): string {
  const consequence =
    switchesOff === null ? 'Rowport does without it.' : `So ${switchesOff} are switched off.`
  return `\n${assumes}: does not hold.\n  Why it matters: ${because}\n  Otherwise: ${otherwise}\n  ${consequence}`
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function verdictOf(holds: boolean | null): string {
  if (holds === null) return '?'
  return holds ? 'yes' : 'NO'
}

export function connectionTo(id: string, { connections }: Workshop): OwnerConnection {
  const connection = connections.find(id)
  if (!connection) throw new Error(`There is no connection to "${id}"`)
  return connection
}

async function disconnect(
  { kind: { id, name }, disconnect }: OwnerConnection,
  account: { id: string; slug: string },
) {
  const outcome = await disconnect(account.id)
  if (outcome instanceof Problem) return outcome
  const { label, isRevoked, endItThere } = outcome
  const there = isRevoked
    ? `${name} has withdrawn the access as well.`
    : `${name} could not be told: the owner can ${endItThere}.`
  return {
    json: { connected: false, [`${id}_account`]: label, [`revoked_at_${id}`]: isRevoked },
    text: `Account ${account.slug} is disconnected from ${label}. Its sheets now return token_expired. ${there}`,
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
