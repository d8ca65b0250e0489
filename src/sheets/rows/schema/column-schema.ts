import type { CellKind, ColumnSummary, NumberExceptions } from '../query/columns/column-summary.ts'
import type { StaleColumn } from '../stale-results.ts'
import type { OrderedJson } from './ordered-json.ts'

/** What is known of a column beside its cells. */
export interface ColumnFacts {
  /** The numbers of the listed rows, by position. */
  rowNumbers: Pick<Uint32Array, number>
  stale: StaleColumn | undefined
}

/** JSON Schema of the cells that a column holds now. */
export function columnSchema(
  { kinds, hasEmptyCells, examples, exceptions }: ColumnSummary,
  { rowNumbers, stale }: ColumnFacts,
): OrderedJson {
  const words = [exceptions && exceptionWords(exceptions, rowNumbers), stale && staleWords(stale)]
  const description = words.filter((sentence) => sentence).join(' ')
  const described = description === '' ? {} : { description }
  // Nothing is known of a column without a cell but that it may come to hold anything.
  if (kinds.length === 0) return { ...anyCell, ...described }
  const types = [...new Set(kinds.map((kind) => typeOf[kind]))]
  if (hasEmptyCells) types.push('null')
  return {
    ...oneOfTypes(types, formatOf(kinds)),
    ...described,
    ...shownExamples(examples),
  }
}

const exceptionCharacters = 40

/** For those who expect a column of numbers, and for those who want to put it right. */
function exceptionWords(
  { count, cells, examples }: NumberExceptions,
  rowNumbers: Pick<Uint32Array, number>,
): string {
  const shown = examples.map(({ cell, position }) => {
    const text = String(cell)
    const words = text.length > exceptionCharacters ? `${text.slice(0, exceptionCharacters)}…` : text
    return `${typeof cell === 'string' ? JSON.stringify(words) : words} in row ${rowNumbers[position]}`
  })
  const others = `${count.toLocaleString('en')} of ${cells.toLocaleString('en')} cells`
  return `Numbers, but for ${others}: ${shown.join(', ')}${count > shown.length ? ', …' : ''}.`
}

const staleRowsShown = 10

function staleWords({ rowNumbers }: StaleColumn): string {
  const { length } = rowNumbers
  const shown = `${rowNumbers.subarray(0, staleRowsShown).join(', ')}${length > staleRowsShown ? ', …' : ''}`
  const rows = length === 1 ? `row ${shown}` : `${length.toLocaleString('en')} rows (${shown})`
  return `Results of formulas; in ${rows} not calculated since the last write.`
}

/**
 * A cell that is written, and the answer to that: what the column holds, or nothing. A form that all texts happen to have
 * today is no reason to refuse another one, nor is it that all numbers are whole.
 */
export function writtenSchema({ kinds }: Pick<ColumnSummary, 'kinds'>): OrderedJson {
  if (kinds.length === 0) return anyCell
  const types = kinds.map((kind) => (kind === 'integer' ? 'number' : typeOf[kind]))
  return oneOfTypes([...new Set(types), 'null'])
}

/** A list of types may name one beside `null`: strict validators (Ajv) refuse longer ones. */
function oneOfTypes(types: readonly string[], ofText: { format?: string; pattern?: string } = {}) {
  const [type = 'null'] = types
  if (types.length === 1) return { type, ...ofText }
  if (types.length === 2 && types.includes('null')) return { type: types, ...ofText }
  return { anyOf: types.map((each) => (each === 'string' ? { type: each, ...ofText } : { type: each })) }
}

/** What any cell can be. */
export const anyCell = oneOfTypes(['string', 'number', 'boolean', 'null'])

/** As displayed, everything is text, and nothing is null. */
export function formattedSchema({ examples }: ColumnSummary, { stale }: ColumnFacts): OrderedJson {
  return { type: 'string', ...(stale && { description: staleWords(stale) }), ...shownExamples(examples) }
}

const typeOf: Record<CellKind, string> = {
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  string: 'string',
  date: 'string',
  'date-time': 'string',
  time: 'string',
}

/**
 * JSON Schema's own `date-time` and `time` must have a zone (RFC 3339), which a spreadsheet's clock has not, and a format that a strict
 * validator does not know is refused by it: a pattern says the same to everyone (docs/decisions/012).
 */
const formats: Partial<Record<CellKind, { format?: string; pattern?: string; description?: string }>> = {
  date: { format: 'date' },
  'date-time': {
    pattern: '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?$',
    description: "Date and time by the spreadsheet's own clock, without a zone.",
  },
  time: {
    pattern: '^\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?$',
    description: "A time by the spreadsheet's own clock, without a zone.",
  },
}

/** Only where all texts are of one kind. */
function formatOf(kinds: readonly CellKind[]): { format?: string; pattern?: string; description?: string } {
  const texts = kinds.filter((kind) => typeOf[kind] === 'string')
  const [only] = texts
  return (texts.length === 1 && only && formats[only]) || {}
}

function shownExamples(examples: ColumnSummary['examples']): { examples?: OrderedJson } {
  const short = examples.filter((example) => typeof example !== 'string' || example.length <= 100)
  return short.length > 0 ? { examples: short } : {}
}
