import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Workshop } from './assemble.ts'
import type { OwnLimits } from './management/accounts.ts'
import { Problem } from './management/problem.ts'
import { kindOf, locateFile } from './sheets/file/file-location.ts'
import { ProviderFailure } from './sheets/provider-failure.ts'
import type { KeyMode, KeyScope, SheetAccess } from './store/schema.ts'
import type { AccountRecord, KeyRecord, SheetRecord } from './store/store.ts'

/** One of the operator's commands (CONTRACT 6). */
export interface Command {
  words: readonly string[]
  usage: string
  /** What the words after the command's own stand for. */
  positionals: readonly string[]
  options: readonly string[]
  run(workshop: Workshop, words: readonly string[], options: Options): Promise<Outcome | Problem>
}

type Options = Record<string, string | undefined>

export interface Outcome {
  json: unknown
  text: string
}

/** The command was typed wrong; what is wrong, for the person who typed it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const commands: readonly Command[] = [
  {
    words: ['account', 'create'],
    usage: 'account create <slug> [--plan <plan>]',
    positionals: ['<slug>'],
    options: ['plan'],
    async run({ accounts }, [slug = ''], { plan = 'free' }) {
      const account = await accounts.create(slug, plan)
      if (account instanceof Problem) return account
      return { json: accountJson(account), text: `Account ${slug} created, on plan ${plan}.` }
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
      return { json: accountJson(account), text: `Account ${slug} is on plan ${plan} now${ownLimits(own)}.` }
    },
  },
  {
    words: ['sheet', 'connect'],
    usage: 'sheet connect <account>/<sheet> --file <path> [--tab <name>] [--access public-read]',
    positionals: ['<account>/<sheet>'],
    options: ['file', 'tab', 'access'],
    run: connectSheet,
  },
  { ...pausing('pause', true) },
  { ...pausing('resume', false) },
  {
    words: ['sheet', 'list'],
    usage: 'sheet list <account>',
    positionals: ['<account>'],
    options: [],
    async run({ sheets }, [account = '']) {
      const list = await sheets.list(account)
      if (list instanceof Problem) return list
      return {
        json: list.map(sheetJson),
        text: table(sheetColumns, list.map(sheetLine), `No sheets in ${account} yet.`),
      }
    },
  },
  {
    words: ['key', 'create'],
    usage: 'key create <account> --name <name> [--mode live|test] [--sheet <slug>] [--scope read|read-write]',
    positionals: ['<account>'],
    options: ['name', 'mode', 'sheet', 'scope'],
    async run({ keys }, [accountSlug = ''], { name, mode, sheet, scope }) {
      if (name === undefined) throw new UsageError('A key needs a --name.')
      const key = await keys.create({
        accountSlug,
        sheetSlug: sheet ?? null,
        name,
        mode: oneOf<KeyMode>('mode', mode ?? 'live', ['live', 'test']),
        scope: oneOf<KeyScope>('scope', scope ?? 'read', ['read', 'read-write']),
      })
      if (key instanceof Problem) return key
      return { json: { ...keyJson(key.record), key: key.value }, text: shownOnce(key.record, key.value) }
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
        text: `Key "${key.name}" (${shownAs(key)}) is revoked. Nothing can bring it back.`,
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
        text: `The old key is dead. In its place:\n${shownOnce(record, value)}`,
      }
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

export const usage = `rowport: a spreadsheet behind a JSON API

  rowport serve
${usageLines(commands)}
Every command but serve takes --json. They work on the same data as a running server, and take effect at once.
`

export function usageOf(some: readonly Command[]): string {
  return `Usage:\n${usageLines(some)}`
}

function usageLines(some: readonly Command[]): string {
  return some.map((command) => `  rowport ${command.usage}\n`).join('')
}

async function connectSheet(
  { sheets, providers, decoding }: Workshop,
  [address = '']: readonly string[],
  { file, tab, access = 'private' }: Options,
): Promise<Outcome | Problem> {
  const { accountSlug, sheetSlug } = parsedAddress(address)
  if (file === undefined) throw new UsageError('Name the spreadsheet with --file.')
  const asked = {
    accountSlug,
    sheetSlug,
    access: oneOf<SheetAccess>('access', access, ['private', 'public-read']),
  }
  // npm changes to the project's folder, so a relative path may not mean what it meant to the person.
  if (!existsSync(file)) return new Problem(`there is no file "${resolve(file)}"`)
  if (!kindOf(file))
    return new Problem(`"${file}" is neither a CSV file nor an Excel workbook (.csv, .tsv, .xlsx)`)
  if (tab !== undefined && kindOf(file) === 'csv')
    return new Problem('a CSV file has no tabs; leave --tab out')
  const place = locateFile(file, tab ?? null)
  try {
    // A sheet that cannot be read now would only fail later, in front of its clients.
    const fetched = await providers.get('file')?.fetch(place.location, null)
    if (!fetched || fetched === 'unchanged') throw new Error('The file provider gave no bytes')
    const { columns, rowNumbers } = await decoding.decode(fetched)
    if (columns.length === 0) return new Problem('row 1 has no headers; put a name above each column')
    const sheet = await sheets.connect({ ...asked, provider: 'file', ...place })
    if (sheet instanceof Problem) return sheet
    const found = `${count(columns.length, 'column')}, ${count(rowNumbers.length, 'row')}`
    return {
      json: sheetJson(sheet),
      text: `Sheet ${address} connected: ${found}.\n  /api/sheets/${address}\n  /v1/sheets/${sheet.id}`,
    }
  } catch (error) {
    if (error instanceof ProviderFailure) return new Problem(error.message)
    throw error
  }
}

function pausing(word: string, paused: boolean): Command {
  return {
    words: ['sheet', word],
    usage: `sheet ${word} <account>/<sheet>`,
    positionals: ['<account>/<sheet>'],
    options: [],
    async run({ sheets }, [address = '']) {
      const { accountSlug, sheetSlug } = parsedAddress(address)
      const sheet = await sheets.setPaused(accountSlug, sheetSlug, paused)
      if (sheet instanceof Problem) return sheet
      return { json: sheetJson(sheet), text: `Sheet ${address} is ${paused ? 'paused' : 'served again'}.` }
    },
  }
}

function parsedAddress(address: string): { accountSlug: string; sheetSlug: string } {
  const [accountSlug, sheetSlug, ...rest] = address.split('/')
  if (!accountSlug || !sheetSlug || rest.length > 0)
    throw new UsageError(`"${address}" is not <account>/<sheet>.`)
  return { accountSlug, sheetSlug }
}

function oneOf<T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value)
  if (found === undefined) throw new UsageError(`--${option} is ${allowed.join(' or ')}, not "${value}".`)
  return found
}

function positiveNumber(option: string, options: Options): number | null {
  const text = options[option]
  if (text === undefined) return null
  if (!/^[1-9][0-9]{0,8}$/.test(text))
    throw new UsageError(`--${option} must be a whole number from 1 to 999999999.`)
  return Number(text)
}

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
  if (requestsPerMinute !== null) limits.push(`${requestsPerMinute} requests a minute`)
  if (requestsPerMonth !== null) limits.push(`${requestsPerMonth} requests a month`)
  return limits.length > 0 ? `, but with ${limits.join(' and ')}` : ''
}

function sheetJson({ id, slug, provider, access, paused, cacheSeconds, location }: SheetRecord) {
  return { id, slug, provider, access, paused, cache_seconds: cacheSeconds, location: JSON.parse(location) }
}

const sheetColumns = ['SHEET', 'STATE', 'ACCESS', 'ID', 'FILE']

function sheetLine({ id, slug, access, paused, location }: SheetRecord): string[] {
  const { path } = JSON.parse(location) as { path?: string }
  return [slug, paused ? 'paused' : 'live', access, id, path ?? '']
}

function keyJson(key: KeyRecord) {
  return {
    id: key.id,
    name: key.name,
    mode: key.mode,
    scope: key.scope,
    sheet_id: key.sheetId,
    shown: shownAs(key),
    created_at: new Date(key.createdAtMs).toISOString(),
    revoked_at: key.revokedAtMs === null ? null : new Date(key.revokedAtMs).toISOString(),
  }
}

const keyColumns = ['KEY', 'NAME', 'SCOPE', 'OPENS', 'STATE', 'ID']

function keyLine(key: KeyRecord, sheetSlugs: ReadonlyMap<string, string>): string[] {
  const { id, name, scope, sheetId, revokedAtMs } = key
  const opens = sheetId === null ? 'all sheets' : (sheetSlugs.get(sheetId) ?? sheetId)
  return [shownAs(key), name, scope, opens, revokedAtMs === null ? 'active' : 'revoked', id]
}

function shownAs({ shownStart, shownEnd }: KeyRecord): string {
  return `${shownStart}…${shownEnd}`
}

function shownOnce({ id, name, scope }: KeyRecord, value: string): string {
  return `Key "${name}" (${scope}), id ${id}. Shown only now:\n\n  ${value}\n`
}

function table(columns: readonly string[], rows: readonly string[][], ifEmpty: string): string {
  if (rows.length === 0) return ifEmpty
  const lines = [columns, ...rows]
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n')
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
