import { existsSync } from 'node:fs'
import type { Workshop } from '../assemble/workshop.ts'
import type { NamedAccount } from '../management/accounts/accounts.ts'
import { Problem } from '../management/problem.ts'
import type { SheetToConnect } from '../management/sheets/sheets.ts'
import { kindOf, locateFile } from '../providers/file/file-location.ts'
import type { SheetAccess } from '../store/sql/schema.ts'
import { type Command, type Options, type Outcome, oneOf, UsageError } from './command.ts'
import { parsedAddress, sheetJson } from './sheet-address.ts'

export const connectSheet: Command = {
  words: ['sheet', 'connect'],
  usage:
    'sheet connect <account>/<sheet> --file <path> [--tab <name>] [--access public-read]\n' +
    '  rowport sheet connect <account>/<sheet> --google <spreadsheet id or url> [--tab <name>] [--access …]',
  positionals: ['<account>/<sheet>'],
  options: ['file', 'google', 'tab', 'access'],
  run: connect,
}

type Spreadsheet = Pick<SheetToConnect, 'provider' | 'source' | 'location' | 'credentialId'>

async function connect(
  workshop: Workshop,
  [address = '']: readonly string[],
  { file, google, tab, access = 'private' }: Options,
): Promise<Outcome | Problem> {
  const { accountSlug, sheetSlug } = parsedAddress(address)
  if ((file === undefined) === (google === undefined)) {
    throw new UsageError('Name the spreadsheet with --file or with --google.')
  }
  const wish = {
    sheetSlug,
    isByOperator: true,
    access: oneOf<SheetAccess>('access', access, ['private', 'public-read']),
  }
  const account = await workshop.accounts.find(accountSlug)
  if (account instanceof Problem) return account
  const spreadsheet =
    google === undefined ? fileAt(file ?? '', tab) : await googleAt(workshop, account, google, tab)
  if (spreadsheet instanceof Problem) return spreadsheet
  const connected = await workshop.ofOwner.connecting.connect({ account, ...wish, ...spreadsheet })
  if (connected instanceof Problem) return connected
  const { sheet, preview } = connected
  const found = `${count(preview.columns.length, 'column')}, ${count(preview.rowCount, 'row')}`
  return {
    json: sheetJson(sheet),
    text: `Sheet ${address} connected: ${found}.\n  /api/sheets/${address}\n  /v1/sheets/${sheet.id}`,
  }
}

function fileAt(file: string, tab: string | undefined): Spreadsheet | Problem {
  if (!existsSync(file)) return new Problem(`there is no file "${file}"`)
  if (!kindOf(file))
    return new Problem(`"${file}" is neither a CSV file nor an Excel workbook (.csv, .tsv, .xlsx)`)
  if (tab !== undefined && kindOf(file) === 'csv')
    return new Problem('a CSV file has no tabs; leave --tab out')
  return { provider: 'file', ...locateFile(file, tab ?? null) }
}

async function googleAt(
  { google, googleSpreadsheets }: Workshop,
  { id, slug }: NamedAccount,
  spreadsheet: string,
  tab: string | undefined,
): Promise<Spreadsheet | Problem> {
  const status = await google.status(id)
  if (google.isConfigured && status?.state !== 'connected') {
    const state = status ? 'must connect Google again' : 'is not connected to Google yet'
    return new Problem(
      `account "${slug}" ${state}; its owner does that at the dashboard. For a link: rowport account link ${slug}`,
    )
  }
  const located = await googleSpreadsheets.locate(id, spreadsheet, tab ?? null)
  if (located instanceof Problem) return located
  return { provider: 'google', source: located.source, ...located.place }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
