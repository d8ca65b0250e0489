import { invalidArgument, invalidFields } from '../google-error.ts'
import { type Dimension, isJsonObject, isObject, type SheetCell } from '../model.ts'
import { refuseTooLong } from './cell-limit.ts'
import type { Locale } from './locale.ts'
import { readTyped } from './typed-input.ts'

export type InputOption = 'RAW' | 'USER_ENTERED'
type Scalar = string | number | boolean | null

export interface WrittenValues {
  range: string | undefined
  majorDimension: Dimension
  /** Always by rows; null leaves a cell alone. */
  rows: Scalar[][]
}

const LIST_TYPE = 'type.googleapis.com/google.protobuf.ListValue'

export function readInputOption(value: unknown): InputOption {
  if (value === 'RAW' || value === 'USER_ENTERED') return value
  if (value === undefined || value === null || value === '' || value === 'INPUT_VALUE_OPTION_UNSPECIFIED') {
    throw invalidArgument("'valueInputOption' is required but not specified")
  }
  throw invalidEnum('value_input_option', 'google.apps.sheets.v4.ValueInputOption', value)
}

export function readDimension(value: unknown, field = 'major_dimension'): Dimension {
  if (value === undefined || value === null || value === '' || value === 'DIMENSION_UNSPECIFIED')
    return 'ROWS'
  if (value === 'ROWS' || value === 'COLUMNS') return value
  throw invalidEnum(field, 'google.apps.sheets.v4.Dimension', value)
}

export function invalidEnum(field: string, type: string, value: unknown): Error {
  const description = `Invalid value at '${field}' (type.googleapis.com/${type}), ${JSON.stringify(value)}`
  return invalidFields([{ field, description }])
}

/** The ValueRange of a write; `field` is where it sits in Google's request message. */
export function readValueRange(body: unknown, field = 'data'): WrittenValues {
  const given = isObject(body) ? body : {}
  const values = given.values ?? []
  const lists = Array.isArray(values) ? values : [values]
  const violations = lists.flatMap((line, index) => {
    if (Array.isArray(line)) return []
    const at = Array.isArray(values) ? `${field}.values[${index}]` : `${field}.values`
    return [{ field: at, description: `Invalid value at '${at}' (${LIST_TYPE}), ${JSON.stringify(line)}` }]
  })
  if (violations.length > 0) throw invalidFields(violations)
  const majorDimension = readDimension(given.majorDimension, `${field}.major_dimension`)
  const lines = lists.map((line: unknown[], row) =>
    line.map((value, column) => readScalar(value, row, column)),
  )
  return {
    range: typeof given.range === 'string' ? given.range : undefined,
    majorDimension,
    rows: majorDimension === 'ROWS' ? lines : transposed(lines),
  }
}

function readScalar(value: unknown, row: number, column: number): Scalar {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value
  if (typeof value === 'string') {
    refuseTooLong(value)
    return value
  }
  throw invalidArgument(
    `Invalid values[${row}][${column}]: ${Array.isArray(value) ? 'list_value' : 'struct_value'} {\n}\n`,
  )
}

function transposed(lines: Scalar[][]): Scalar[][] {
  const height = Math.max(0, ...lines.map((line) => line.length))
  return Array.from({ length: height }, (_, row) => lines.map((line) => line[row] ?? null))
}

/** The cell after a value is written into it: its format, note and the rest stay. */
export function cellWith(
  old: SheetCell | undefined,
  value: Exclude<Scalar, null>,
  option: InputOption,
  locale: Locale,
): SheetCell {
  const { entered: _entered, given: _given, ...kept } = old ?? {}
  if (value === '') return kept
  if (typeof value === 'number') return { ...kept, entered: { numberValue: value } }
  if (typeof value === 'boolean') return { ...kept, entered: { boolValue: value } }
  const ownFormat = kept.format?.numberFormat
  const isText = isJsonObject(ownFormat) && ownFormat.type === 'TEXT'
  if (option === 'RAW' || isText) return { ...kept, entered: { stringValue: value } }
  const typed = readTyped(value, locale)
  if (!typed.format || ownFormat) return { ...kept, entered: typed.value }
  return { ...kept, entered: typed.value, format: { ...kept.format, numberFormat: { ...typed.format } } }
}
