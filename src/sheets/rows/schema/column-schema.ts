import type { CellKind, ColumnSummary, NumberExceptions } from '../query/columns/column-summary.ts'
import type { OrderedJson } from './ordered-json.ts'

/** JSON Schema of the cells that a column holds now. */
export function columnSchema(
  { kinds, hasEmptyCells, examples, exceptions }: ColumnSummary,
  rowNumbers: Pick<Uint32Array, number>,
): OrderedJson {
  // Nothing is known of a column without a cell but that it may come to hold anything.
  if (kinds.length === 0) return { type: ['string', 'number', 'boolean', 'null'] }
  const types = [...new Set(kinds.map((kind) => typeOf[kind]))]
  if (hasEmptyCells) types.push('null')
  return {
    type: types.length === 1 ? (types[0] ?? 'null') : types,
    ...formatOf(kinds),
    ...(exceptions && { description: exceptionWords(exceptions, rowNumbers) }),
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

/** As displayed, everything is text, and nothing is null. */
export function formattedSchema({ examples }: ColumnSummary): OrderedJson {
  return { type: 'string', ...shownExamples(examples) }
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
 * JSON Schema's own `date-time` and `time` must have a zone (RFC 3339), which a spreadsheet's clock has not: those who
 * made types of them would fail at our values. The OpenAPI registry of formats has the local ones.
 */
const formats: Partial<Record<CellKind, { format: string; pattern?: string }>> = {
  date: { format: 'date' },
  'date-time': {
    format: 'date-time-local',
    pattern: '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?$',
  },
  time: { format: 'time-local', pattern: '^\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?$' },
}

/** Only where all texts are of one kind. */
function formatOf(kinds: readonly CellKind[]): { format?: string; pattern?: string } {
  const texts = kinds.filter((kind) => typeOf[kind] === 'string')
  const [only] = texts
  return (texts.length === 1 && only && formats[only]) || {}
}

function shownExamples(examples: ColumnSummary['examples']): { examples?: OrderedJson } {
  const short = examples.filter((example) => typeof example !== 'string' || example.length <= 100)
  return short.length > 0 ? { examples: short } : {}
}
