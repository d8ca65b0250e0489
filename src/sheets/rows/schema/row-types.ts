import type { CellKind, ColumnKinds } from '../query/columns/column-summary.ts'
import { rowNumberKey } from '../table.ts'

/** What the TypeScript of a sheet tells, beside the kinds of its cells. */
export interface TypedSheet {
  /** Where the sheet is found, for the comment above its types. */
  path: string
  /** What its interface is called. */
  name: string
  columns: readonly { key: string }[]
  /** The kinds of the columns, by position. */
  kinds: readonly ColumnKinds[]
  /** By whose values rows are named; null where none does. */
  keyColumn: string | null
  /** A row that is added without a key gets one. */
  isKeyMade: boolean
  /** As with `?row_numbers=true`. */
  rowNumbers: boolean
}

/**
 * The TypeScript of a sheet's rows, as its cells are now. It holds no time, no count and no example, and knows no whole from other
 * numbers: it changes only where a program that relies on it would have to.
 */
export function rowTypesText(sheet: TypedSheet): string {
  return `${[madeBy, namedTypes, sheetInterface(sheet)].join('\n\n')}\n`
}

const madeBy = [
  '// Made by Rowport from the cells of a sheet. Do not edit: create it again when the sheet has changed.',
  '// `rowport types <url> --check <this file>` fails when the sheet no longer fits.',
].join('\n')

/** A pattern, and not only a name, so that a date can be written down without a cast and "soon" cannot. */
const namedTypes = `/** A date by the spreadsheet: \`2026-11-15\`. */
export type DateText = \`\${number}-\${number}-\${number}\`
/** A date with a time, by the spreadsheet's own clock: \`2026-11-15T09:30:00\`. */
export type DateTimeText = \`\${DateText}T\${number}:\${number}:\${number}\`
/** A time of day, by the spreadsheet's own clock: \`09:30:00\`. */
export type TimeText = \`\${number}:\${number}:\${number}\`
/** What a column without a cell may come to hold. */
export type Cell = string | number | boolean | null`

function sheetInterface({ path, name, columns, kinds, keyColumn, isKeyMade, rowNumbers }: TypedSheet) {
  const lines = (of: (kinds: ColumnKinds, key: string) => string) =>
    columns.map(({ key }, at) => `    ${propertyName(key)}${of(kinds[at] ?? unknownKinds, key)}`)
  const block = (title: string, members: readonly string[]) => `  ${title}: {\n${members.join('\n')}\n  }`
  const rowNumber = rowNumbers ? [`    ${rowNumberKey}: number`] : []
  const needsKey = (key: string) => key === keyColumn && !isKeyMade
  return [
    `/** The rows of ${path}. */`,
    `export interface ${name} {`,
    block('Row', [...rowNumber, ...lines((column) => `: ${readType(column)}`)]),
    block(
      'Insert',
      lines((column, key) => (needsKey(key) ? `: ${filledType(column)}` : `?: ${writtenType(column)}`)),
    ),
    block(
      'Update',
      lines((column, key) => `?: ${key === keyColumn ? filledType(column) : writtenType(column)}`),
    ),
    `  Key: ${keyColumn === null ? 'never' : JSON.stringify(keyColumn)}`,
    '}',
  ].join('\n')
}

const unknownKinds: ColumnKinds = { kinds: [], hasEmptyCells: true }

function readType(column: ColumnKinds): string {
  if (column.kinds.length === 0) return 'Cell'
  return column.hasEmptyCells ? `${filledType(column)} | null` : filledType(column)
}

/** Any cell may be emptied. */
function writtenType(column: ColumnKinds): string {
  return column.kinds.length === 0 ? 'Cell' : `${filledType(column)} | null`
}

function filledType({ kinds }: ColumnKinds): string {
  if (kinds.length === 0) return 'string | number | boolean'
  const names = typeNames.filter(([, of]) => of.some((kind) => kinds.includes(kind))).map(([name]) => name)
  // Any text is a `string`, dates among them.
  return names.filter((name) => !names.includes('string') || !name.endsWith('Text')).join(' | ')
}

/** In the order in which they are written, so that the order of cells does not matter. */
const typeNames: readonly (readonly [name: string, of: readonly CellKind[]])[] = [
  ['string', ['string']],
  ['DateText', ['date']],
  ['DateTimeText', ['date-time']],
  ['TimeText', ['time']],
  ['number', ['number', 'integer']],
  ['boolean', ['boolean']],
]

function propertyName(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)
}

/**
 * `lamp-shop` is `LampShopSheet`. Two slugs never have one name: a hyphen before a letter makes it a capital, any other one an
 * underscore; and what ends in `Sheet` is none of the named types.
 */
export function typeNameOf(slug: string): string {
  const [first = '', ...rest] = slug.replace(
    /-([a-z])|-/g,
    (_, letter?: string) => letter?.toUpperCase() ?? '_',
  )
  return `${/[a-z]/.test(first) ? first.toUpperCase() : `_${first}`}${rest.join('')}Sheet`
}
