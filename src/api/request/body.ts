import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../errors.ts'
import { ClientGone } from '../../http/client-gone.ts'
import { inTurns } from '../../shares/in-turns.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import type { RowInput } from '../../sheets/rows/row-input.ts'
import type { Soon } from '../../soon.ts'
import { outlineOf, parseJsonText, quoteKey } from './json-outline.ts'

export const maxBodyBytes = 2 * 1024 * 1024
export const maxCellCharacters = 50_000

/**
 * The body, never more of it than is allowed: the count runs while it streams, whatever Content-Length claims. Of each connection two
 * megabytes may be there to be read at once, so `turn` is asked for on the way.
 */
export async function readBody(
  request: IncomingMessage,
  turn: () => Soon<void>,
  mostBytes = maxBodyBytes,
): Promise<Buffer | Refusal> {
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) return tooLarge(mostBytes)
  // Most bodies came with their heads: what is all there need not be waited for in pieces.
  if (request.complete && !request.destroyed && request.readableLength <= mostBytes)
    return takeBuffered(request)
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > mostBytes) return tooLarge(mostBytes)
      chunks.push(chunk)
      const due = turn()
      if (due) await due
    }
  } catch (cause) {
    throw new ClientGone('The client went away while sending', { cause })
  }
  return Buffer.concat(chunks, length)
}

function tooLarge(mostBytes: number): Refusal {
  return new Refusal('payload_too_large', { details: `The body must be ${mostBytes} bytes or less.` })
}

/** All that is there, which `read` may hand out piece by piece. */
function takeBuffered(request: IncomingMessage): Buffer {
  const chunks: Buffer[] = []
  for (let chunk = request.read(); chunk !== null; chunk = request.read()) chunks.push(chunk as Buffer)
  const [only] = chunks
  return only && chunks.length === 1 ? only : Buffer.concat(chunks)
}

/**
 * One object, or an array of 1 to 1,000; cells are scalars that can be kept exactly (docs/contract.md#bodies). Each row is a piece
 * of work, and so are some ten thousand bytes of a long one: before each, `turn` is asked for.
 */
export async function parseRows(
  body: Buffer,
  contentEncoding: string | undefined,
  wanted: 'any' | 'one' = 'any',
  turn: () => Soon<void> = () => undefined,
): Promise<RowInput[] | Refusal> {
  if (contentEncoding && contentEncoding.toLowerCase() !== 'identity') {
    return invalid('Compressed bodies are not supported; send the JSON as it is.')
  }
  return inTurns(rowsInSteps(body, wanted), turn)
}

function* rowsInSteps(body: Buffer, wanted: 'any' | 'one'): Generator<void, RowInput[] | Refusal> {
  if (!isUtf8(body)) return invalid('The body is not valid UTF-8.')
  const outline = yield* outlineOf(withoutByteOrderMark(body))
  if (outline instanceof Refusal) return outline
  if (outline === null) return noJson()
  const { isArray, rows } = outline
  const parsed: unknown[] = []
  for (const { json } of rows) {
    yield
    const value = parseJsonText(json)
    if (value === undefined) return noJson()
    parsed.push(value)
  }
  if (wanted === 'one' && isArray)
    return invalid('You can only update one row at a time. Send a single object.')
  if (rows.length === 0) return invalid('The array has no rows.')
  const inputs: RowInput[] = []
  for (const [at, row] of parsed.entries()) {
    yield
    const input = inputOf(row, isArray ? `Row ${at + 1} of the array` : null)
    if (input instanceof Refusal) return input
    inputs.push(input)
  }
  for (const { longNumbers } of rows) {
    for (const [at, number] of longNumbers.entries()) {
      if (at % numbersPerStep === 0) yield
      if (!isExactNumber(number, Number(number)))
        return invalid(`The number ${number.slice(0, 80)} cannot be kept exactly; send it as text.`)
    }
  }
  return inputs
}

/** A fraction of a millisecond, also for numbers that are as long as they may be. */
const numbersPerStep = 64

/** `subject`: which row of an array; null for one that is the whole body. */
function inputOf(row: unknown, subject: string | null): RowInput | Refusal {
  const name = subject ?? 'The body'
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    return invalid(`${name} is not an object.`)
  const input = Object.entries(row)
  if (input.length === 0) return invalid(`${name} is an empty object.`)
  for (const [key, value] of input) {
    const problem = problemWith(key, value)
    if (problem) return invalid(subject === null ? problem : `${subject}: ${problem}`)
  }
  return input as [string, Cell][]
}

export function problemWith(key: string, value: unknown): string | null {
  if (!key.isWellFormed()) return 'A field name is not valid Unicode.'
  if (typeof value === 'number' && !Number.isFinite(value))
    return `${quoteKey(key)} holds a number that is too large.`
  if (typeof value !== 'string') return null
  if (value.length > maxCellCharacters)
    return `${quoteKey(key)} has more than ${maxCellCharacters} characters.`
  return value.isWellFormed() ? null : `${quoteKey(key)} is not valid Unicode.`
}

function withoutByteOrderMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body
}

/**
 * Whether a number read from `source` prints as the same decimal again, so that nothing of it was lost: JSON.parse rounds
 * `12345678901234567890` without a word. (Its reviver would see that text too, and take ten times as long for it.)
 */
export function isExactNumber(source: string, value: number): boolean {
  return Number.isFinite(value) && normalizeDecimal(source) === normalizeDecimal(String(value))
}

/** Sign, significant digits and power of ten: `1.50e3` and `1500` are both `15e2`. */
function normalizeDecimal(decimal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = withoutEndingZeros(digits)
  if (significant === '') return '0'
  const power = Number(exponent) - fraction.length + (digits.length - significant.length)
  return `${sign}${significant}e${power}`
}

/** Not `/0+$/`: over a million zeros with a one behind them, that looks at each of them a million times. */
function withoutEndingZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}

function noJson(): Refusal {
  return invalid('The body is not valid JSON.')
}

function invalid(details: string): Refusal {
  return new Refusal('invalid_body', { details })
}
