import type { Workshop } from '../assemble/workshop.ts'
import { Problem } from '../management/problem.ts'
import { summaryOf } from '../management/sheets/sheet-summary.ts'
import type { WishedChange } from '../management/sheets/sheets.ts'
import type { SheetSettings } from '../store/sheets/sheets.ts'
import type { AutoKey, SheetAccepts, SheetAccess, UnknownFields } from '../store/sql/schema.ts'
import { type Command, type CommandOutcome, type Options, oneOf, table, UsageError } from './command.ts'
import { connectSheet } from './connect-command.ts'
import { parseSheetAddress, sheetJson } from './sheet-address.ts'

export const sheetCommands: readonly Command[] = [
  connectSheet,
  pausing('pause', true),
  pausing('resume', false),
  {
    words: ['sheet', 'set'],
    usage:
      'sheet set <account>/<sheet> [--access private|public-read] [--accepts both|live]\n' +
      '                    [--cache-seconds <n>] [--stale-if-error-seconds <n>] [--unknown-fields reject|ignore]\n' +
      '                    [--key-column <name>|off] [--auto-key uuid|none] [--history-days <n>]\n' +
      '                    [--watch-seconds <n>] [--encoding <name of what a CSV file is in>|auto]',
    positionals: ['<account>/<sheet>'],
    options: [
      ...['access', 'accepts', 'cache-seconds', 'stale-if-error-seconds', 'unknown-fields'],
      ...['key-column', 'auto-key', 'history-days', 'watch-seconds', 'encoding'],
    ],
    run: changeSheet,
  },
  {
    words: ['sheet', 'rename'],
    usage: 'sheet rename <account>/<sheet> <new name>',
    positionals: ['<account>/<sheet>', '<new name>'],
    options: [],
    async run({ sheets }, [address = '', slug = '']) {
      const { accountSlug, sheetSlug } = parseSheetAddress(address)
      const sheet = await sheets.change(accountSlug, sheetSlug, { slug })
      if (sheet instanceof Problem) return sheet
      const text = `Renamed ${address} to ${accountSlug}/${slug}. URLs by ID and keys keep working.`
      return { json: sheetJson(sheet), text }
    },
  },
  {
    words: ['sheet', 'list'],
    usage: 'sheet list <account>',
    positionals: ['<account>'],
    options: [],
    run: listSheets,
  },
]

async function listSheets(
  { accounts, sheets, connections, ofOwner }: Workshop,
  [slug = '']: readonly string[],
): Promise<CommandOutcome | Problem> {
  const account = await accounts.find(slug)
  if (account instanceof Problem) return account
  const list = await sheets.list(slug)
  if (list instanceof Problem) return list
  const ended = await connections.endedCredentials(account.id)
  const places = list.map((sheet) => {
    const place = ofOwner.sheets.describe(sheet)
    const isConnectionOver = sheet.credentialId !== null && ended.has(sheet.credentialId)
    return { sheet, path: place.path, ...summaryOf(sheet, place, isConnectionOver) }
  })
  const lines = places.map(({ sheet: { id, slug, access }, state, path, spreadsheet }) => [
    slug,
    state,
    access,
    id,
    path ?? spreadsheet,
  ])
  return {
    json: places.map(({ sheet, state }) => ({ ...sheetJson(sheet), state })),
    text: table(sheetColumns, lines, `No sheets in ${slug} yet.`),
  }
}

async function changeSheet(
  { sheets }: Workshop,
  [address = '']: readonly string[],
  options: Options,
): Promise<CommandOutcome | Problem> {
  const { accountSlug, sheetSlug } = parseSheetAddress(address)
  const { access, accepts, 'unknown-fields': unknownFields } = options
  const { 'key-column': keyColumn, 'auto-key': autoKey, encoding } = options
  const settings: WishedChange = {
    ...(access !== undefined && { access: oneOf<SheetAccess>('access', access, ['private', 'public-read']) }),
    ...(accepts !== undefined && { accepts: oneOf<SheetAccepts>('accepts', accepts, ['both', 'live']) }),
    ...(unknownFields !== undefined && {
      unknownFields: oneOf<UnknownFields>('unknown-fields', unknownFields, ['reject', 'ignore']),
    }),
    ...(keyColumn !== undefined && { keyColumn: keyColumn === 'off' ? null : keyColumn }),
    ...(autoKey !== undefined && { autoKey: oneOf<AutoKey>('auto-key', autoKey, ['uuid', 'none']) }),
    ...(encoding !== undefined && { encoding: encoding === 'auto' ? null : encoding }),
    ...wholeNumber('cacheSeconds', 'cache-seconds', 'seconds', options),
    ...wholeNumber('staleIfErrorSeconds', 'stale-if-error-seconds', 'seconds', options),
    ...wholeNumber('historyDays', 'history-days', 'days', options),
    ...wholeNumber('watchSeconds', 'watch-seconds', 'seconds', options),
  }
  if (Object.keys(settings).length === 0) throw new UsageError('Name at least one setting.')
  const sheet = await sheets.change(accountSlug, sheetSlug, settings)
  if (sheet instanceof Problem) return sheet
  return { json: sheetJson(sheet), text: `Updated ${address}.` }
}

function wholeNumber(
  name: 'cacheSeconds' | 'staleIfErrorSeconds' | 'historyDays' | 'watchSeconds',
  option: string,
  unit: string,
  options: Options,
): Partial<SheetSettings> {
  const text = options[option]
  if (text === undefined) return {}
  if (!/^[0-9]{1,9}$/.test(text)) throw new UsageError(`--${option} must be a whole number of ${unit}.`)
  return { [name]: Number(text) }
}

function pausing(word: string, paused: boolean): Command {
  return {
    words: ['sheet', word],
    usage: `sheet ${word} <account>/<sheet>`,
    positionals: ['<account>/<sheet>'],
    options: [],
    async run({ sheets }, [address = '']) {
      const { accountSlug, sheetSlug } = parseSheetAddress(address)
      const sheet = await sheets.setPaused(accountSlug, sheetSlug, paused)
      if (sheet instanceof Problem) return sheet
      return { json: sheetJson(sheet), text: `${paused ? 'Paused' : 'Resumed'} ${address}.` }
    },
  }
}

const sheetColumns = ['SHEET', 'STATE', 'ACCESS', 'ID', 'SPREADSHEET']
