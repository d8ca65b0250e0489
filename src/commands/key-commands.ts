import type { Workshop } from '../assemble/workshop.ts'
import { Problem } from '../management/problem.ts'
import type { KeyRecord } from '../store/keys/keys.ts'
import type { KeyMode, KeyScope } from '../store/sql/schema.ts'
import { type Command, type CommandOutcome, type Options, oneOf, table, UsageError } from './command.ts'
import { policyIn, policyOptions, policyUsage } from './policy-options.ts'

const scopes: readonly KeyScope[] = ['read', 'read-write']

export const keyCommands: readonly Command[] = [
  {
    words: ['key', 'create'],
    usage:
      'key create <account> --name <name> [--mode live|test] [--sheet <slug>] [--scope read|read-write]\n' +
      `  rowport key create <account> --name <name> --publishable --sheet <slug> [--mode live|test]\n    ${policyUsage}`,
    positionals: ['<account>'],
    options: ['name', 'mode', 'sheet', 'scope', ...policyOptions],
    flags: ['publishable'],
    async run({ keys }, [accountSlug = ''], options) {
      const { name, mode, sheet, scope, publishable } = options
      if (name === undefined) throw new UsageError('A key needs a --name.')
      if (publishable !== undefined) return publishableKey(keys, accountSlug, options)
      const ofPolicy = policyOptions.find((option) => options[option] !== undefined)
      if (ofPolicy) throw new UsageError(`--${ofPolicy} is for keys that are --publishable.`)
      const key = await keys.create({
        accountSlug,
        sheetSlug: sheet ?? null,
        name,
        mode: oneOf<KeyMode>('mode', mode ?? 'live', ['live', 'test']),
        scope: oneOf<KeyScope>('scope', scope ?? 'read', scopes),
      })
      if (key instanceof Problem) return key
      return { json: { ...keyJson(key.record), key: key.value }, text: showKeyOnce(key.record, key.value) }
    },
  },
  {
    words: ['key', 'revoke'],
    usage: 'key revoke <key id>',
    positionals: ['<key id>'],
    options: [],
    async run({ keys }, [keyId = '']) {
      const key = await keys.revoke(keyId)
      if (key instanceof Problem) return key
      return {
        json: { id: key.id, revoked: true },
        text: `Revoked key "${key.name}" (${showKey(key)}). This can't be undone.`,
      }
    },
  },
  {
    words: ['key', 'regenerate'],
    usage: 'key regenerate <key id>',
    positionals: ['<key id>'],
    options: [],
    async run({ keys }, [keyId = '']) {
      const key = await keys.regenerate(keyId)
      if (key instanceof Problem) return key
      const { record, value } = key
      return {
        json: { ...keyJson(record), key: value },
        text: `The old key no longer works. New key:\n${showKeyOnce(record, value)}`,
      }
    },
  },
  {
    words: ['key', 'scope'],
    usage: 'key scope <key id> read|read-write',
    positionals: ['<key id>', '<scope>'],
    options: [],
    async run({ keys }, [keyId = '', wanted = '']) {
      const scope = scopes.find((each) => each === wanted)
      if (!scope) throw new UsageError(`The scope is ${scopes.join(' or ')}, not "${wanted}".`)
      const key = await keys.setScope(keyId, scope)
      if (key instanceof Problem) return key
      return { json: keyJson(key), text: `Key "${key.name}" (${showKey(key)}) now has ${scope} access.` }
    },
  },
  {
    words: ['key', 'policy'],
    usage: `key policy <key id>\n    ${policyUsage}`,
    positionals: ['<key id>'],
    options: policyOptions,
    async run({ keys }, [keyId = ''], options) {
      const key = await keys.setPolicy(keyId, policyIn(options))
      if (key instanceof Problem) return key
      return { json: keyJson(key), text: `Key "${key.name}" (${showKey(key)}) has its new policy.` }
    },
  },
  {
    words: ['key', 'list'],
    usage: 'key list <account>',
    positionals: ['<account>'],
    options: [],
    async run({ keys, sheets }, [account = '']) {
      const list = await keys.list(account)
      if (list instanceof Problem) return list
      const itsSheets = await sheets.list(account)
      if (itsSheets instanceof Problem) return itsSheets
      const slugs = new Map(itsSheets.map(({ id, slug }) => [id, slug]))
      const lines = list.map((key) => keyLine(key, slugs))
      return { json: list.map(keyJson), text: table(keyColumns, lines, `No keys in ${account} yet.`) }
    },
  },
]

async function publishableKey(
  keys: Workshop['keys'],
  accountSlug: string,
  options: Options,
): Promise<CommandOutcome | Problem> {
  const { name = '', mode, sheet, scope } = options
  if (sheet === undefined) throw new UsageError('A publishable key is for one --sheet.')
  if (scope !== undefined) throw new UsageError('A publishable key has --may in place of --scope.')
  const key = await keys.createPublishable({
    accountSlug,
    sheetSlug: sheet,
    name,
    mode: oneOf<KeyMode>('mode', mode ?? 'live', ['live', 'test']),
    policy: policyIn(options),
  })
  if (key instanceof Problem) return key
  const { record, value } = key
  return {
    json: { ...keyJson(record), key: value },
    text: `Publishable key "${record.name}", id ${record.id}. It may stand in pages for everyone to see:\n\n  ${value}\n`,
  }
}

function keyJson(key: KeyRecord) {
  const { policy } = key
  return {
    id: key.id,
    name: key.name,
    mode: key.mode,
    scope: key.scope,
    sheet_id: key.sheetId,
    shown: showKey(key),
    created_at: new Date(key.createdAtMs).toISOString(),
    last_used_at: key.lastUsedAtMs === null ? null : new Date(key.lastUsedAtMs).toISOString(),
    revoked_at: key.revokedAtMs === null ? null : new Date(key.revokedAtMs).toISOString(),
    ...(policy && {
      value: key.publicValue,
      policy: {
        may: policy.may,
        origins: policy.origins,
        read_columns: policy.readColumns,
        write_columns: policy.writeColumns,
        where: policy.where,
        set: Object.fromEntries(policy.set),
        max_rows: policy.maxRows,
        per_minute: policy.requestsPerMinute,
      },
    }),
  }
}

const keyColumns = ['KEY', 'NAME', 'SCOPE', 'ACCESS', 'CREATED', 'LAST USED', 'STATE', 'ID']

function keyLine(key: KeyRecord, sheetSlugs: ReadonlyMap<string, string>): string[] {
  const { id, name, sheetId, createdAtMs, lastUsedAtMs, revokedAtMs, policy } = key
  const scope = policy ? policy.may.join(', ') : key.scope
  const opens = sheetId === null ? 'all sheets' : (sheetSlugs.get(sheetId) ?? sheetId)
  const state = revokedAtMs === null ? 'active' : 'revoked'
  return [showKey(key), name, scope, opens, day(createdAtMs), day(lastUsedAtMs), state, id]
}

function day(atMs: number | null): string {
  return atMs === null ? 'never' : new Date(atMs).toISOString().slice(0, 10)
}

function showKey({ shownStart, shownEnd, publicValue }: KeyRecord): string {
  return publicValue ?? `${shownStart}…${shownEnd}`
}

function showKeyOnce({ id, name, scope }: KeyRecord, value: string): string {
  return `Key "${name}" (${scope}), id ${id}. Save it now. It won't be shown again:\n\n  ${value}\n`
}
