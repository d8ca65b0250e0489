import { existsSync } from 'node:fs'
import type { Workshop } from '../assemble.ts'
import { Problem } from '../management/problem.ts'
import { kindOf, locateFile } from '../sheets/file/file-location.ts'
import { ProviderFailure } from '../sheets/provider-failure.ts'
import type { SheetAccepts, SheetAccess, UnknownFields } from '../store/schema.ts'
import type { SheetRecord, SheetSettings } from '../store/store.ts'
import { type Command, type Options, type Outcome, oneOf, table, UsageError } from './command.ts'

export const sheetCommands: readonly Command[] = [
  {
    words: ['sheet', 'connect'],
    usage: 'sheet connect <account>/<sheet> --file <path> [--tab <name>] [--access public-read]',
    positionals: ['<account>/<sheet>'],
    options: ['file', 'tab', 'access'],
    run: connectSheet,
  },
  pausing('pause', true),
  pausing('resume', false),
  {
    words: ['sheet', 'set'],
    usage:
      'sheet set <account>/<sheet> [--access private|public-read] [--accepts both|live]\n' +
      '                    [--cache-seconds <n>] [--stale-if-error-seconds <n>] [--unknown-fields reject|ignore]',
    positionals: ['<account>/<sheet>'],
    options: ['access', 'accepts', 'cache-seconds', 'stale-if-error-seconds', 'unknown-fields'],
    run: changeSheet,
  },
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
]

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
  if (!existsSync(file)) return new Problem(`there is no file "${file}"`)
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

async function changeSheet(
  { sheets }: Workshop,
  [address = '']: readonly string[],
  options: Options,
): Promise<Outcome | Problem> {
  const { accountSlug, sheetSlug } = parsedAddress(address)
  const { access, accepts, 'unknown-fields': unknownFields } = options
  const settings: Partial<SheetSettings> = {
    ...(access !== undefined && { access: oneOf<SheetAccess>('access', access, ['private', 'public-read']) }),
    ...(accepts !== undefined && { accepts: oneOf<SheetAccepts>('accepts', accepts, ['both', 'live']) }),
    ...(unknownFields !== undefined && {
      unknownFields: oneOf<UnknownFields>('unknown-fields', unknownFields, ['reject', 'ignore']),
    }),
    ...seconds('cacheSeconds', 'cache-seconds', options),
    ...seconds('staleIfErrorSeconds', 'stale-if-error-seconds', options),
  }
  if (Object.keys(settings).length === 0) throw new UsageError('Name at least one setting.')
  const sheet = await sheets.change(accountSlug, sheetSlug, settings)
  if (sheet instanceof Problem) return sheet
  return { json: sheetJson(sheet), text: `Sheet ${address} is set.` }
}

function seconds(
  name: 'cacheSeconds' | 'staleIfErrorSeconds',
  option: string,
  options: Options,
): Partial<SheetSettings> {
  const text = options[option]
  if (text === undefined) return {}
  if (!/^[0-9]{1,9}$/.test(text)) throw new UsageError(`--${option} must be a whole number of seconds.`)
  return { [name]: Number(text) }
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

function sheetJson(sheet: SheetRecord) {
  return {
    id: sheet.id,
    slug: sheet.slug,
    provider: sheet.provider,
    access: sheet.access,
    accepts: sheet.accepts,
    paused: sheet.paused,
    cache_seconds: sheet.cacheSeconds,
    stale_if_error_seconds: sheet.staleIfErrorSeconds,
    unknown_fields: sheet.unknownFields,
    location: JSON.parse(sheet.location),
  }
}

const sheetColumns = ['SHEET', 'STATE', 'ACCESS', 'ID', 'FILE']

function sheetLine({ id, slug, access, paused, location }: SheetRecord): string[] {
  const { path } = JSON.parse(location) as { path?: string }
  return [slug, paused ? 'paused' : 'live', access, id, path ?? '']
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
