import { type Mask, maskFor, parseMask } from '../fields-mask.ts'
import { invalidArgument } from '../google-error.ts'
import {
  type EnteredValue,
  isJsonObject,
  isObject,
  type Json,
  type JsonObject,
  type SheetCell,
} from '../model.ts'
import { refuseTooLong } from './cell-limit.ts'
import { withBothColors } from './colors.ts'

const EXTRAS = ['dataValidation', 'textFormatRuns', 'hyperlink', 'pivotTable', 'chipRuns']

export function readFields(fields: unknown): Mask {
  if (typeof fields !== 'string' || fields === '') {
    throw invalidArgument("At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)")
  }
  const mask = parseMask(fields)
  if (!mask) throw invalidArgument(`Invalid field mask: ${fields}`)
  return mask
}

/** The members of CellData the mask names are set, or cleared where the data has none; the others stay. */
export function cellWithFields(old: SheetCell | undefined, data: JsonObject, mask: Mask): SheetCell {
  let cell: SheetCell = { ...old }
  if (maskFor(mask, 'userEnteredValue')) {
    const { entered: _entered, given: _given, ...rest } = cell
    const entered = enteredValue(data.userEnteredValue)
    cell = entered ? { ...rest, entered } : rest
  }
  const formatMask = maskFor(mask, 'userEnteredFormat')
  if (formatMask) {
    const { format: before, ...rest } = cell
    const given = isJsonObject(data.userEnteredFormat) ? withBothColors(data.userEnteredFormat) : {}
    const format = merge(before ?? {}, given, withColorTwins(formatMask))
    cell = Object.keys(format).length > 0 ? { ...rest, format } : rest
  }
  if (maskFor(mask, 'note')) {
    const { note: _note, ...rest } = cell
    cell = typeof data.note === 'string' && data.note !== '' ? { ...rest, note: data.note } : rest
  }
  const { extras, ...rest } = cell
  const next: JsonObject = { ...extras }
  for (const name of EXTRAS) {
    if (!maskFor(mask, name)) continue
    const value = data[name]
    if (value === undefined || value === null) delete next[name]
    else next[name] = value
  }
  return Object.keys(next).length > 0 ? { ...rest, extras: next } : rest
}

function enteredValue(value: Json | undefined): EnteredValue | undefined {
  if (!isObject(value)) return undefined
  const { numberValue, boolValue, formulaValue, stringValue } = value
  if (isGiven(numberValue, 'number', 'TYPE_DOUBLE')) return { numberValue }
  if (isGiven(boolValue, 'boolean', 'TYPE_BOOL')) return { boolValue }
  if (isGiven(formulaValue, 'string', 'TYPE_STRING')) {
    refuseTooLong(formulaValue)
    return { formulaValue }
  }
  if (!isGiven(stringValue, 'string', 'TYPE_STRING')) return undefined
  refuseTooLong(stringValue)
  return stringValue === '' ? undefined : { stringValue }
}

interface Scalars {
  number: number
  boolean: boolean
  string: string
}

/** Google's parser also names the path of the field; which one it was shows in the value well enough. */
function isGiven<Name extends keyof Scalars>(
  value: unknown,
  type: Name,
  wireType: string,
): value is Scalars[Name] {
  if (value === undefined || value === null) return false
  if (typeof value === type) return true
  throw invalidArgument(`Invalid value at 'user_entered_value' (${wireType}), ${JSON.stringify(value)}`)
}

/** A mask that names backgroundColor means backgroundColorStyle as well. */
function withColorTwins(mask: Mask): Mask {
  if (mask === 'all') return mask
  const twins = new Map<string, Mask>()
  for (const [key, sub] of mask) {
    twins.set(key, withColorTwins(sub))
    if (key.endsWith('Color')) twins.set(`${key}Style`, 'all')
    if (key.endsWith('ColorStyle')) twins.set(key.slice(0, -'Style'.length), 'all')
  }
  return twins
}

export function merge(before: JsonObject, given: JsonObject, mask: Mask): JsonObject {
  if (mask === 'all') return given
  const result = { ...before }
  for (const [key, sub] of mask) {
    const value = given[key]
    const old = result[key]
    if (value === undefined || value === null) {
      if (sub === 'all' || !isJsonObject(old)) delete result[key]
      else result[key] = merge(old, {}, sub)
    } else if (sub !== 'all' && isJsonObject(value))
      result[key] = merge(isJsonObject(old) ? old : {}, value, sub)
    else result[key] = value
  }
  return result
}
