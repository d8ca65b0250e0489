import type { Cell } from '../../grid.ts'
import { formatIsoCell, formatSerial } from './date.ts'
import { xlsxFailure } from './failure.ts'
import type { NumberFormat } from './number-format.ts'
import { decodeXstring } from './string-item.ts'

export interface WorkbookValues {
  sharedStrings: readonly string[]
  cellFormats: readonly NumberFormat[]
  uses1904: boolean
}

/** A number as ECMA-376 has it, which is less than `Number` takes (`0x10`, `Infinity`, an empty text). */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** `type` and `style` are the attributes `t` and `s` of the cell, `raw` the text of its `<v>`. */
export function readCellValue(
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
      return formatIsoCell(raw.trim(), formatOf(style, workbook)?.(Number.NaN) ?? 'number')
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

function numberCell(raw: string, style: string | undefined, workbook: WorkbookValues): Cell {
  const value = Number(raw)
  if (!DECIMAL.test(raw) || !Number.isFinite(value)) return raw
  const kind = formatOf(style, workbook)?.(value) ?? 'number'
  // Adding 0 turns -0, which JSON does not have, into 0.
  return kind === 'number' ? value + 0 : formatSerial(value, kind, workbook.uses1904)
}

/** A cell without a style has the first one (ECMA-376-1, 18.3.1.4). */
function formatOf(style: string | undefined, workbook: WorkbookValues): NumberFormat | undefined {
  return workbook.cellFormats[style === undefined ? 0 : Number(style)]
}
