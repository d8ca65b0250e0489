import { evaluate, type Operand } from './formula.ts'
import { type Locale, localeOf } from './locale.ts'
import { cellAt, type EffectiveValue, type Sheet, type SheetCell, type Spreadsheet } from './model.ts'
import { displayNumber, numberFormatOf, showsTime } from './number-format.ts'
import { resolveA1 } from './resolve-range.ts'

export interface RenderOptions {
  value: 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' | 'FORMULA'
  dateTime: 'SERIAL_NUMBER' | 'FORMATTED_STRING'
}

const ERROR_TEXTS: Record<string, string> = {
  ERROR: '#ERROR!',
  NULL_VALUE: '#NULL!',
  DIVIDE_BY_ZERO: '#DIV/0!',
  VALUE: '#VALUE!',
  REF: '#REF!',
  NAME: '#NAME?',
  NUM: '#NUM!',
  N_A: '#N/A',
  LOADING: 'Loading...',
}

/** How one spreadsheet's cells read, for the length of one call. */
export class CellDisplay {
  readonly #spreadsheet: Spreadsheet
  readonly #locale: Locale
  readonly #underway = new Set<SheetCell>()

  constructor(spreadsheet: Spreadsheet) {
    this.#spreadsheet = spreadsheet
    this.#locale = localeOf(spreadsheet.properties.locale)
  }

  effective(sheet: Sheet, cell: SheetCell | undefined): EffectiveValue | undefined {
    const entered = cell?.entered
    if (!cell || !entered) return undefined
    if (!('formulaValue' in entered)) return entered
    if (cell.given) return cell.given
    if (this.#underway.has(cell)) {
      return { errorValue: { type: 'REF', message: 'Circular dependency detected.' } }
    }
    this.#underway.add(cell)
    const value = evaluate(entered.formulaValue, (reference) => this.#cellsOf(sheet, reference))
    this.#underway.delete(cell)
    return value && 'stringValue' in value && value.stringValue === ''
      ? undefined
      : (value ?? { numberValue: 0 })
  }

  #cellsOf(sheet: Sheet, reference: string): Operand[] | undefined {
    try {
      const local = reference.includes('!')
        ? reference
        : `'${sheet.title.replaceAll("'", "''")}'!${reference}`
      const place = resolveA1(this.#spreadsheet, local.replaceAll('$', ''))
      const found: Operand[] = []
      const lastRow = Math.min(place.area.endRow, Math.max(place.sheet.rows.length, place.area.startRow + 1))
      for (let row = place.area.startRow; row < lastRow; row++) {
        for (let column = place.area.startColumn; column < place.area.endColumn; column++) {
          found.push(this.effective(place.sheet, cellAt(place.sheet, row, column)))
        }
      }
      return found
    } catch {
      return undefined
    }
  }

  formatted(sheet: Sheet, cell: SheetCell | undefined): string | undefined {
    const value = this.effective(sheet, cell)
    if (!value) return undefined
    if ('numberValue' in value) {
      return displayNumber(value.numberValue, numberFormatOf(cell?.format, this.#locale), this.#locale)
    }
    if ('boolValue' in value) return value.boolValue ? 'TRUE' : 'FALSE'
    if ('errorValue' in value) return ERROR_TEXTS[value.errorValue.type] ?? '#ERROR!'
    return value.stringValue
  }

  /** The cell in a values answer; undefined for an empty one. */
  rendered(
    sheet: Sheet,
    cell: SheetCell | undefined,
    options: RenderOptions,
  ): string | number | boolean | undefined {
    if (!cell?.entered) return undefined
    if (options.value === 'FORMATTED_VALUE') return this.formatted(sheet, cell)
    if (options.value === 'FORMULA' && 'formulaValue' in cell.entered) return cell.entered.formulaValue
    const value = this.effective(sheet, cell)
    if (!value) return undefined
    if ('numberValue' in value) {
      const asText =
        options.dateTime === 'FORMATTED_STRING' && showsTime(numberFormatOf(cell.format, this.#locale))
      return asText ? this.formatted(sheet, cell) : value.numberValue
    }
    if ('boolValue' in value) return value.boolValue
    if ('stringValue' in value) return value.stringValue
    const shown = ERROR_TEXTS[value.errorValue.type] ?? '#ERROR!'
    return value.errorValue.message === undefined ? shown : `${shown} (${value.errorValue.message})`
  }
}
