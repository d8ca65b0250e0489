import { Refusal } from '../../errors.ts'
import { decodeOrNull } from '../../http/target.ts'
import { inTurns } from '../../shares/in-turns.ts'
import type { RowInput } from '../../sheets/rows/row-input.ts'
import type { Soon } from '../../soon.ts'
import { maxCellCharacters, problemWith } from './body.ts'
import { maxFields, quoteKey } from './json-outline.ts'

/**
 * One row as a form sends it, every value a text (docs/contract.md#forms); null for a body that is no form. `curl -d` says
 * `application/x-www-form-urlencoded` of whatever it sends, so what looks like JSON is not a form. Each field is a piece of work, before
 * which `turn` is asked for.
 */
export async function parseForm(
  body: Buffer,
  contentType: string | undefined,
  mostFields = maxFields,
  turn: () => Soon<void> = () => undefined,
): Promise<RowInput | Refusal | null> {
  const [mediaType = ''] = (contentType ?? '').split(';', 1)
  const isUrlencoded = urlencoded.test(mediaType)
  if (!isUrlencoded && !multipart.test(mediaType)) return null
  if (isUrlencoded && !isPairs(body)) return null
  const fields = isUrlencoded
    ? urlencodedFields(body.toString(), mostFields)
    : multipartFields(body, contentType ?? '', mostFields)
  return inTurns(rowInSteps(fields), turn)
}

function* rowInSteps(reading: Generator<void, Fields | Refusal>): Generator<void, RowInput | Refusal> {
  const fields = yield* reading
  if (fields instanceof Refusal) return fields
  if (fields.length === 0) return invalid('The form has no fields.')
  const row = new Map<string, string>()
  for (const [name, text] of fields) {
    yield
    // Forms end lines with both characters, whatever a person typed.
    const value = withLineFeeds(text)
    const earlier = row.get(name)
    row.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  for (const [name, value] of row) {
    const problem = problemWith(name, value)
    if (problem) return invalid(problem)
  }
  return [...row]
}

/**
 * What is longer has too many characters whatever they are, and is not even decoded: of each unit of UTF-16 at most three bytes are sent,
 * and of each byte at most three characters.
 */
const maxFieldBytes = 3 * maxCellCharacters
const maxEncodedCharacters = 3 * maxFieldBytes

function tooLong(name: string): Refusal {
  return invalid(problemWith(name, tooLongText) ?? '')
}

/*
 * None of the following is `replaceAll`: for a million places that takes a tenth of a second and more, in which nobody else is served.
 */

function withLineFeeds(text: string): string {
  if (!text.includes('\r\n')) return text
  const { bytes, units } = unitsOf(text)
  let to = 0
  for (let at = 0; at < units.length; at++) {
    const unit = units[at] as number
    if (unit === carriageReturn && units[at + 1] === lineFeed) continue
    units[to++] = unit
  }
  return bytes.toString('utf16le', 0, to * 2)
}

function withSpaces(text: string): string {
  if (!text.includes('+')) return text
  const { bytes, units } = unitsOf(text)
  for (let at = 0; at < units.length; at++) if (units[at] === plus) units[at] = space
  return bytes.toString('utf16le')
}

/** Browsers write a quote as `%22`, others with a backslash before it. */
function withoutEscapes(text: string): string {
  if (!/[\\%]/.test(text)) return text
  const { bytes, units } = unitsOf(text)
  let to = 0
  for (let at = 0; at < units.length; at++) {
    const unit = units[at] as number
    const meant = unit === percent ? percentEscape(units[at + 1], units[at + 2]) : null
    if (meant !== null) at += 2
    else if (unit === backslash && at + 1 < units.length) at++
    units[to++] = meant ?? (units[at] as number)
  }
  return bytes.toString('utf16le', 0, to * 2)
}

/** The three that browsers write, and no other: a name may have any percent sign beside. */
function percentEscape(first: number | undefined, second: number | undefined): number | null {
  if (first === digitTwo && second === digitTwo) return quote
  if (first !== digitZero) return null
  return second === capitalD ? carriageReturn : second === capitalA ? lineFeed : null
}

/** To be written over from its beginning, by what is not longer. */
function unitsOf(text: string): { bytes: Buffer; units: Uint16Array } {
  const bytes = Buffer.from(text, 'utf16le')
  return { bytes, units: new Uint16Array(bytes.buffer, bytes.byteOffset, text.length) }
}

const carriageReturn = 13
const lineFeed = 10
const space = 32
const quote = 34
const percent = 37
const plus = 43
const digitZero = 48
const digitTwo = 50
const capitalA = 65
const capitalD = 68
const backslash = 92

type Fields = (readonly [name: string, value: string])[]

const urlencoded = /^\s*application\/x-www-form-urlencoded\s*$/i
const multipart = /^\s*multipart\/form-data\s*$/i

function isPairs(body: Buffer): boolean {
  return body.includes('=') && !/^\s*[[{"]/.test(body.toString('latin1', 0, 100))
}

function* urlencodedFields(text: string, mostFields: number): Generator<void, Fields | Refusal> {
  const pairs = text.trim().split('&', mostFields + 1)
  if (pairs.length > mostFields) return tooMany(mostFields)
  const fields: Fields = []
  for (const pair of pairs.filter((each) => each !== '')) {
    yield
    const nameEnd = pair.includes('=') ? pair.indexOf('=') : pair.length
    if (nameEnd > maxEncodedCharacters) return longName
    const name = decodeField(pair.slice(0, nameEnd))
    const isLong = pair.length - nameEnd > maxEncodedCharacters + 1
    if (name !== null && isLong) return tooLong(name)
    const value = name === null ? null : decodeField(pair.slice(nameEnd + 1))
    if (name === null || value === null) return invalid('The percent-encoding of the form is broken.')
    fields.push([name, value])
  }
  return fields
}

/** A space is sent as a plus, and a plus by its number. */
function decodeField(text: string): string | null {
  return decodeOrNull(withSpaces(text))
}

/** RFC 7578. */
function* multipartFields(
  body: Buffer,
  contentType: string,
  mostFields: number,
): Generator<void, Fields | Refusal> {
  const boundary = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType)
  if (!boundary) return broken
  const delimiter = Buffer.from(`--${boundary[1] ?? boundary[2]}`)
  const nextDelimiter = Buffer.concat([lineEnd, delimiter])
  const fields: Fields = []
  let at = yield* placeOf(delimiter, body, 0)
  // Parts that are no field take as long to read.
  for (let parts = 0; ; parts++) {
    yield
    if (at === -1) return broken
    const begin = at + delimiter.length
    if (body.toString('latin1', begin, begin + 2) === '--') return fields
    if (parts === mostFields) return tooMany(mostFields)
    const firstLineEnd = yield* placeOf(lineEnd, body, begin)
    const headEnd = firstLineEnd === -1 ? -1 : yield* placeOf(headersEnd, body, firstLineEnd)
    if (headEnd === -1) return broken
    if (headEnd - firstLineEnd > maxFieldBytes) return longName
    const end = yield* placeOf(nextDelimiter, body, Math.max(headEnd, firstLineEnd))
    if (end === -1) return broken
    const head = body.subarray(firstLineEnd, headEnd)
    const field = fieldOf(head, body.subarray(headEnd + 4, Math.max(headEnd + 4, end)))
    if (field instanceof Refusal) return field
    if (field !== null) fields.push(field)
    at = end + 2
  }
}

const lineEnd = Buffer.from('\r\n')
const headersEnd = Buffer.from('\r\n\r\n')
/** To look for what nearly stands everywhere takes ten times as long as usual, and for two megabytes 20 ms. */
const bytesPerStep = 128 * 1024

/** -1 where it does not come from there on. */
function* placeOf(sought: Buffer, body: Buffer, from: number): Generator<void, number> {
  for (let at = from; at < body.length; at += bytesPerStep) {
    const found = body.subarray(at, at + bytesPerStep + sought.length - 1).indexOf(sought)
    if (found !== -1) return at + found
    yield
  }
  return -1
}

/** Null for a place for a file where none was chosen. */
function fieldOf(head: Buffer, content: Buffer): Fields[number] | Refusal | null {
  const disposition = /\r\ncontent-disposition:\s*form-data\s*(;.*)/i.exec(textOf(head) ?? '')?.[1]
  const name = disposition === undefined ? null : parameterIn(disposition, nameParameter)
  if (disposition === undefined || name === null) return broken
  const fileName = parameterIn(disposition, fileNameParameter)
  if (fileName !== null && fileName !== '')
    return invalid(`${quoteKey(name)} is a file; a cell holds text, a number or a boolean.`)
  if (fileName === '') return null
  if (content.byteLength > maxFieldBytes) return tooLong(name)
  const value = textOf(content)
  return value === null ? invalid(`${quoteKey(name)} is not valid UTF-8.`) : [name, value]
}

const nameParameter = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i
const fileNameParameter = /;\s*filename=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i

function parameterIn(disposition: string, parameter: RegExp): string | null {
  const found = parameter.exec(disposition)
  const text = found?.[1] ?? found?.[2]
  return text === undefined ? null : withoutEscapes(text)
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Buffer): string | null {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return null
  }
}

function invalid(details: string): Refusal {
  return new Refusal('invalid_body', { details })
}

const tooLongText = ' '.repeat(maxCellCharacters + 1)
const longName = invalid('The name of a field is too long.')
const broken = invalid('The body is no form that can be read (multipart/form-data).')

function tooMany(mostFields: number): Refusal {
  return invalid(`There may be ${mostFields} fields; the form has more.`)
}
