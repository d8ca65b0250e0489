import type { Cell } from '../../../../sheets/rows/grid.ts'
import { xlsxFailure } from '../container/failure.ts'
import { formatIsoCell, formatSerial, serialOfIsoCell } from './date.ts'
import { type DisplayFormat, generalFormat } from './display/display-format.ts'
import type { NumberFormat } from './number-format.ts'
import { decodeXstring } from './string-item.ts'

/** Makes a cell of what is written in it. `type` and `style` are its attributes `t` and `s`. */
export interface XlsxCellReader {
  /** `raw` is the text of its `<v>`. */
  value(raw: string, type: string | undefined, style: string | undefined): Cell
  /** The value of a cell that has its text in itself, in `<is>`. */
  inlineText(text: string, style: string | undefined): Cell
}

export interface WorkbookValues {
  sharedStrings: readonly string[]
  cellFormats: readonly NumberFormat[]
  uses1904: boolean
}

/** A number as ECMA-376 has it, which is less than `Number` takes (`0x10`, `Infinity`, an empty text). */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** Cells as typed JSON values (docs/contract.md#values). */
export function createTypedReader(workbook: WorkbookValues): XlsxCellReader {
  return {
    value: (raw, type, style) => readCellValue(raw, type, style, workbook),
    inlineText: (text) => text,
  }
}

/** Cells as a person sees them, all of them texts (docs/contract.md#values-as-displayed). */
export function createDisplayReader(
  { sharedStrings, uses1904 }: Pick<WorkbookValues, 'sharedStrings' | 'uses1904'>,
  formats: readonly DisplayFormat[],
): XlsxCellReader {
  const formatOf = (style: string | undefined): DisplayFormat => formats[Number(style ?? 0)] ?? generalFormat
  // No number is shown here, only what needs no format is read: texts, errors and dates that have none.
  const workbook = { sharedStrings, cellFormats: [], uses1904 }
  return {
    value(raw, type, style) {
      if (type === undefined || type === 'n') {
        const value = readNumber(raw.trim())
        return value === undefined ? raw.trim() : formatOf(style).number(value, uses1904)
      }
      const serial = type === 'd' ? serialOfIsoCell(raw.trim(), uses1904) : undefined
      if (serial !== undefined && formatOf(style).showsTime(serial)) {
        return formatOf(style).number(serial, uses1904)
      }
      const cell = readCellValue(raw, type, undefined, workbook)
      if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE'
      const isText = type === 's' || type === 'str' || type === 'inlineStr'
      return isText && typeof cell === 'string' && cell !== '' ? formatOf(style).text(cell) : cell
    },
    inlineText: (text, style) => (text === '' ? text : formatOf(style).text(text)),
  }
}

function readCellValue(
  raw: string,
  type: string | undefined,
  style: string | undefined,
  workbook: WorkbookValues,
): Cell {
  switch (type) {
    case 's':
      return sharedString(raw, workbook.sharedStrings)
    case 'str':
    case 'inlineStr':
      return decodeXstring(raw)
    case 'e':
      return raw.trim()
    case 'b':
      return booleanCell(raw.trim())
    case 'd':
      return isoCell(raw.trim(), style, workbook)
    default:
      return numberCell(raw.trim(), style, workbook)
  }
}

function sharedString(raw: string, sharedStrings: readonly string[]): Cell {
  const index = raw.trim()
  if (index === '') return null
  const text = /^\d+$/.test(index) ? sharedStrings[Number(index)] : undefined
  // Served as empty, the loss would look like data.
  if (text === undefined) throw xlsxFailure('damaged', 'a cell names a shared string that is not there')
  return text
}

function booleanCell(raw: string): Cell {
  if (raw === '1' || raw === 'true') return true
  return raw === '0' || raw === 'false' ? false : raw
}

/** A format can choose by value, so the number is needed that the date would be. */
function isoCell(raw: string, style: string | undefined, workbook: WorkbookValues): Cell {
  const serial = serialOfIsoCell(raw, workbook.uses1904) ?? Number.NaN
  return formatIsoCell(raw, formatOf(style, workbook)?.(serial) ?? 'number', workbook.uses1904)
}

function numberCell(raw: string, style: string | undefined, workbook: WorkbookValues): Cell {
  const value = readNumber(raw)
  if (value === undefined) return raw
  const kind = formatOf(style, workbook)?.(value) ?? 'number'
  // Adding 0 turns -0, which JSON does not have, into 0.
  return kind === 'number' ? value + 0 : formatSerial(value, kind, workbook.uses1904)
}

function readNumber(raw: string): number | undefined {
  const value = Number(raw)
  return DECIMAL.test(raw) && Number.isFinite(value) ? value : undefined
}

/** A cell without a style has the first one (ECMA-376-1, 18.3.1.4). */
function formatOf(style: string | undefined, workbook: WorkbookValues): NumberFormat | undefined {
  return workbook.cellFormats[style === undefined ? 0 : Number(style)]
}
