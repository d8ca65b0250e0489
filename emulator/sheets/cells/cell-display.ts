import { evaluate } from '../formula/formula.ts'
import { formatOfFormula } from '../formula/formula-format.ts'
import type { Operand } from '../formula/operand.ts'
import { cellAt, type EffectiveValue, type Sheet, type SheetCell, type Spreadsheet } from '../model.ts'
import { type Place, resolveA1 } from '../resolve-range.ts'
import { type Locale, localeOf } from './locale.ts'
import { displayNumber, type NumberFormat, numberFormatOf, showsTime } from './number-format.ts'

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
      const place = this.#placeOf(sheet, reference)
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

  #placeOf(sheet: Sheet, reference: string): Place {
    const local = reference.includes('!') ? reference : `'${sheet.title.replaceAll("'", "''")}'!${reference}`
    return resolveA1(this.#spreadsheet, local.replaceAll('$', ''))
  }

  /** The cell's own number format, or the one its formula brings along. */
  numberFormat(sheet: Sheet, cell: SheetCell | undefined): NumberFormat | undefined {
    const own = numberFormatOf(cell?.format, this.#locale)
    if (own || !cell?.entered || !('formulaValue' in cell.entered) || this.#underway.has(cell)) return own
    this.#underway.add(cell)
    try {
      return formatOfFormula(cell.entered.formulaValue, this.#locale, (reference) => {
        const { sheet: other, area } = this.#placeOf(sheet, reference)
        return this.numberFormat(other, cellAt(other, area.startRow, area.startColumn))
      })
    } catch {
      return undefined
    } finally {
      this.#underway.delete(cell)
    }
  }

  formatted(sheet: Sheet, cell: SheetCell | undefined): string | undefined {
    const value = this.effective(sheet, cell)
    if (!value) return undefined
    if ('numberValue' in value) {
      return displayNumber(value.numberValue, this.numberFormat(sheet, cell), this.#locale)
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
      const asText = options.dateTime === 'FORMATTED_STRING' && showsTime(this.numberFormat(sheet, cell))
      return asText ? this.formatted(sheet, cell) : value.numberValue
    }
    if ('boolValue' in value) return value.boolValue
    if ('stringValue' in value) return value.stringValue
    const shown = ERROR_TEXTS[value.errorValue.type] ?? '#ERROR!'
    return value.errorValue.message === undefined ? shown : `${shown} (${value.errorValue.message})`
  }
}
