import { existsSync } from 'node:fs'
import type { Workshop } from '../assemble/workshop.ts'
import type { NamedAccount } from '../management/accounts/accounts.ts'
import { Problem } from '../management/problem.ts'
import type { SheetToConnect } from '../management/sheets/sheets.ts'
import { locateInAccount } from '../management/uploads/file-source.ts'
import { countOf } from '../plain-words.ts'
import { fileEncodings } from '../providers/file/file-encodings.ts'
import { fileEndings, kindOf } from '../providers/file/file-location.ts'
import { connectableKinds } from '../providers/provider-table.ts'
import type { ProviderKind } from '../sheets/provider-kind.ts'
import type { SheetAccess } from '../store/sql/schema.ts'
import { type Command, type CommandOutcome, type Options, oneOf, UsageError } from './command.ts'
import { connectionTo } from './connection-commands.ts'
import { parseSheetAddress, sheetJson } from './sheet-address.ts'

export const connectSheet: Command = {
  words: ['sheet', 'connect'],
  usage: [
    'sheet connect <account>/<sheet> --file <path> [--tab <name>] [--access public-read]',
    '                    [--encoding <name of what a CSV file is in>]',
    ...connectableKinds.map(
      ({ id }) =>
        `  rowport sheet connect <account>/<sheet> --${id} <spreadsheet id or url> [--tab <name>] [--access …]`,
    ),
  ].join('\n'),
  positionals: ['<account>/<sheet>'],
  options: ['file', ...connectableKinds.map(({ id }) => id), 'tab', 'encoding', 'access'],
  run: connect,
}

type Spreadsheet = Pick<SheetToConnect, 'provider' | 'source' | 'location' | 'credentialId'>

async function connect(
  workshop: Workshop,
  [address = '']: readonly string[],
  { file, tab, encoding, access = 'private', ...homes }: Options,
): Promise<CommandOutcome | Problem> {
  const { accountSlug, sheetSlug } = parseSheetAddress(address)
  const named = connectableKinds.filter(({ id }) => homes[id] !== undefined)
  const [kind] = named
  if (named.length + (file === undefined ? 0 : 1) !== 1) {
    const ways = ['--file', ...connectableKinds.map(({ id }) => `--${id}`)]
    throw new UsageError(`Name the spreadsheet with ${ways.join(' or with ')}.`)
  }
  if (encoding !== undefined && file === undefined) throw new UsageError('--encoding is for a CSV file.')
  const csvEncoding = encoding === undefined ? null : parseEncoding(encoding)
  const wish = {
    sheetSlug,
    isByOperator: true,
    access: oneOf<SheetAccess>('access', access, ['private', 'public-read']),
  }
  const account = await workshop.accounts.find(accountSlug)
  if (account instanceof Problem) return account
  const spreadsheet =
    kind === undefined
      ? await fileAt(workshop, account, file ?? '', tab, csvEncoding)
      : await spreadsheetAt(workshop, account, kind, homes[kind.id] ?? '', tab)
  if (spreadsheet instanceof Problem) return spreadsheet
  const connected = await workshop.ofOwner.connecting.connect({ account, ...wish, ...spreadsheet })
  if (connected instanceof Problem) return connected
  const { sheet, preview } = connected
  const found = `${countOf(preview.columns.length, 'column')}, ${countOf(preview.rowCount, 'row')}`
  return {
    json: sheetJson(sheet),
    text: `Sheet ${address} connected: ${found}.\n  /api/sheets/${address}\n  /v1/sheets/${sheet.id}`,
  }
}

function parseEncoding(label: string): string | null {
  const name = fileEncodings.named(label)
  return name === undefined ? oneOf('encoding', label, fileEncodings.names) : name
}

async function fileAt(
  { store }: Workshop,
  { id }: NamedAccount,
  file: string,
  tab: string | undefined,
  encoding: string | null,
): Promise<Spreadsheet | Problem> {
  if (!existsSync(file)) return new Problem(`there is no file "${file}"`)
  if (!kindOf(file)) return new Problem(`"${file}" is neither a CSV file nor a workbook (${fileEndings})`)
  if (tab !== undefined && kindOf(file) === 'csv')
    return new Problem('a CSV file has no tabs; leave --tab out')
  if (encoding !== null && kindOf(file) !== 'csv')
    return new Problem('a workbook says itself what it is in; leave --encoding out')
  const { location, source } = await locateInAccount(store, id, file, tab ?? null)
  return { provider: 'file', location: fileEncodings.at(location, encoding), source }
}

async function spreadsheetAt(
  workshop: Workshop,
  { id, slug }: NamedAccount,
  { id: provider, name, hasTabs }: ProviderKind,
  spreadsheet: string,
  tab: string | undefined,
): Promise<Spreadsheet | Problem> {
  if (tab !== undefined && !hasTabs)
    return new Problem(`a spreadsheet of ${name} has no tabs; leave --tab out`)
  const { status: statusOf, ways, readsPublic, spreadsheets } = connectionTo(provider, workshop)
  const status = await statusOf(id)
  if (ways.length > 0 && !readsPublic && status?.state !== 'connected') {
    const state = status ? `must connect ${name} again` : `is not connected to ${name} yet`
    return new Problem(
      `account "${slug}" ${state}; the owner does that in the dashboard. For a link: rowport account link ${slug}`,
    )
  }
  const located = await spreadsheets.locate(id, spreadsheet, tab ?? null)
  if (located instanceof Problem) return located
  return { provider, source: located.source, ...located.place }
}
