import { Refusal } from '../../errors.ts'
import { endOfText, marks } from '../../http/json-marks.ts'
import { maxColumns } from '../../sheets/rows/table.ts'
import type { Soon } from '../../soon.ts'

/**
 * Where the rows stand in the text of a body, so that each can be parsed by itself. JSON.parse takes a tenth of a second and more
 * for two megabytes of brackets, or of different keys, and nobody else is served meanwhile; what no row can have is told here.
 */
export interface Outline {
  isArray: boolean
  /** Each still to be parsed: only brackets, commas and the ends of texts were looked at. */
  rows: string[]
}

const maxRows = 1_000
/** Upper bound on the fields of one row: as many as a sheet has columns, and the row's number. */
export const maxFields = maxColumns + 1

/** null: the text is no JSON. Each row is a piece of work, before which `turn` is asked for. */
export async function outlineOf(text: string, turn: () => Soon<void>): Promise<Outline | Refusal | null> {
  let at = 0
  let problem: Refusal | null = null
  const rows: string[] = []

  skipSpace()
  const isArray = text[at] === '['
  const isWhole = isArray ? await takeArray() : takeRow(null)
  if (problem) return problem
  skipSpace()
  return isWhole && at === text.length ? { isArray, rows } : null

  async function takeArray(): Promise<boolean> {
    at++
    skipSpace()
    if (text[at] === ']') return ++at > 0
    for (;;) {
      await turn()
      if (rows.length === maxRows) return refuse('payload_too_large', tooManyRows)
      if (!takeRow(`Row ${rows.length + 1} of the array`)) return false
      skipSpace()
      const mark = text[at++]
      if (mark === ']') return true
      if (mark !== ',') return false
      skipSpace()
    }
  }

  /** `subject`: which row of an array; null for one that is the whole body. */
  function takeRow(subject: string | null): boolean {
    const from = at
    if (text[at] === '[') return refuse('invalid_body', `${subject} is not an object.`)
    if (!(text[at] === '{' ? skipObject(subject) : skipScalar())) return false
    rows.push(text.slice(from, at))
    return true
  }

  function skipObject(subject: string | null): boolean {
    let fields = 1
    /** The text that was passed last: in front of a value, its key. */
    let key = [0, 0]
    while (++at < text.length) {
      const code = text.charCodeAt(at)
      if (code === quote) {
        const from = at
        if (!skipText()) return false
        key = [from, at + 1]
      } else if (code === comma) {
        if (++fields > maxFields) return refuse('invalid_body', tooManyFields(subject))
      } else if (code === closingBrace) {
        at++
        return true
      } else if (code === openingBrace || code === openingBracket) {
        return refuseNested(text.slice(...key), subject)
      }
    }
    return false
  }

  function refuseNested(keyJson: string, subject: string | null): false {
    const key = parseJsonText(keyJson)
    if (typeof key !== 'string') return false
    const details = `${quoteKey(key)} holds a nested value; a cell is a single value.`
    return refuse('invalid_body', subject === null ? details : `${subject}: ${details}`)
  }

  function skipScalar(): boolean {
    if (text.charCodeAt(at) === quote) {
      if (!skipText()) return false
      at++
      return true
    }
    const from = at
    while (at < text.length && !endsScalar(text.charCodeAt(at))) at++
    return at > from
  }

  /** From its quote to the one that ends it. */
  function skipText(): boolean {
    at = endOfText(text, at)
    return at !== -1
  }

  function skipSpace(): void {
    while (at < text.length && isSpace(text.charCodeAt(at))) at++
  }

  function refuse(code: 'invalid_body' | 'payload_too_large', details: string): false {
    problem = new Refusal(code, { details })
    return false
  }
}

/** Undefined for what is none. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The name of a field as it is told, not longer than helps. */
export function quoteKey(key: string): string {
  return `"${key.length > 80 ? `${key.slice(0, 80)}…` : key}"`
}

function tooManyFields(subject: string | null): string {
  return `A row may have ${maxFields} fields; ${subject ?? 'this one'} has more.`
}

const tooManyRows = `A request may add ${maxRows} rows; this one has more.`
const { quote, comma, openingBracket, closingBracket, openingBrace, closingBrace } = marks

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

function endsScalar(code: number): boolean {
  return code === comma || code === closingBracket || isSpace(code)
}
