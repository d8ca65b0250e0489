import { LAST_DAY_1900, serialDay1900 } from '../../src/providers/file/xlsx/read/date.ts'

/** A cell that we display otherwise than another program. */
export interface DisplayedCell {
  kind: string
  code: string
  /** Absent where it is no number. */
  value: number | undefined
  isCalculated: boolean
  uses1904: boolean
  own: string
  their: string
}

/** Why the other program shows something else, where that is known and Excel is on our side; undefined where it is not. The evidence for each
 * reason is in docs/decisions/024-number-formats.md. */
export function whyDisplayedOtherwise(reference: string, cell: DisplayedCell): string | undefined {
  // Too narrow a column, or a date that there is not: the number is not in the export.
  if (/^#+$/.test(cell.their)) return 'filled with #'
  if (reference === 'exports') return isShortYear(cell) ? 'the short date of that system' : undefined
  return whyByLibreOffice(cell)
}

/** The formats of ids 14 and 22 are those of the system: four digits on Windows in English, two on a Mac. */
function isShortYear({ code, own, their }: DisplayedCell): boolean {
  return code.startsWith('m/d/yyyy') && own.replace(/\/\d\d(?=\d\d\b)/, '/') === their
}

function whyByLibreOffice(cell: DisplayedCell): string | undefined {
  const { kind, code, value, uses1904, own, their } = cell
  if (value === undefined) return cell.isCalculated ? 'calculated anew' : undefined
  if (/date|time|elapsed/.test(kind)) {
    if (value < 0) return 'dates and times before day 0'
    if (serialDay1900(Math.floor(value), uses1904) > LAST_DAY_1900) return 'years past 9999'
    if (kind.startsWith('date') && !uses1904 && value < 61) return 'days before March 1900'
    if (cutsSecond(code, value)) return 'seconds cut, not rounded'
    return cell.isCalculated ? 'calculated anew' : undefined
  }
  // Six digits are the least that General shows.
  if (kind === 'General' && isNear(their, value, 1e-14) && isNear(own, value, 1e-5))
    return 'General with 15 digits'
  if (hasBareLetters(code)) return 'letters that are not in quotes'
  if (own === `${their}.`) return 'no point without decimals'
  if (own === `-${their}` && !/[0#?]/.test(code)) return 'no minus without digits'
  if (own === `-${their}` && hasThirdForRest(code)) return 'no minus behind two conditions'
  if (own.trim() === their.trim() && /_[^ -~]/.test(code)) return 'two blanks for a wide letter'
  if (differsInLastPlace(own, their) && isHalfInDecimals(own, value)) return 'rounded past 15 digits'
  return cell.isCalculated ? 'calculated anew' : undefined
}

/** `0 kg`: Excel takes some letters and refuses others, LibreOffice decides otherwise. */
function hasBareLetters(code: string): boolean {
  const bare = code.replace(/"[^"]*"?|[\\_*].|\[[^\]]*\]|general|e[+-]/gi, '')
  return /[0#?]/.test(bare) && /[a-z]/i.test(bare)
}

/** `[=1]"one";[=2]"two";0`: the third section takes what the conditions before it leave, of both signs. */
function hasThirdForRest(code: string): boolean {
  return /^(?:[^;]*\[[<>=][^;]*;){2}[^;[]/.test(code.replace(/"[^"]*"?|\\./g, ''))
}

function cutsSecond(code: string, value: number): boolean {
  const second = value * 86_400
  return /s/i.test(code) && !/s\.0/i.test(code) && second - Math.floor(second) > 0.49
}

function isNear(text: string, value: number, share: number): boolean {
  return Math.abs(Number(text) - value) <= Math.abs(value) * share
}

/** In binary it is a little more or less than the half that its first 15 digits are, or more digits are shown than it has. */
function isHalfInDecimals(own: string, value: number): boolean {
  if (own.replace(/\D/g, '').length > 15) return true
  const decimals = /\.(\d*)/.exec(own)?.[1]?.length ?? 0
  const places = Math.abs(value) * 10 ** decimals * (own.includes('%') ? 100 : 1)
  return Math.abs((Number(places.toPrecision(15)) % 1) - 0.5) < 1e-6
}

function differsInLastPlace(own: string, their: string): boolean {
  const [one, other] = [own, their].map((text) => text.replace(/[^\d.]/g, ''))
  if (one === undefined || other === undefined || one.length !== other.length) return false
  const decimals = one.includes('.') ? one.length - one.indexOf('.') - 1 : 0
  // The last place that has a digit other than zero, as zeros may follow the fifteenth.
  const zeros = /0*$/.exec(one)?.[0].length ?? 0
  return Math.abs(Number(one) - Number(other)) <= 1.01 * 10 ** -(decimals - Math.min(zeros, decimals))
}
