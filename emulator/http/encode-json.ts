import { randomUUID } from 'node:crypto'
import { setImmediate as otherCallsFirst } from 'node:timers/promises'

/** Rows of a values answer that are turned into text in one go, before other calls have their turn. */
const rowsAtOnce = 5000

/** Stands for a long list in the outline; nothing that a cell holds can be taken for it. */
const mark = randomUUID()

/** Whoever answers twice with the same object has changed nothing in between: large ones are encoded once. */
const encoded = new WeakMap<object, Map<boolean, Promise<Buffer>>>()

/** JSON as Google writes it: two spaces unless told otherwise, a line feed at the end. */
export async function encodeJson(body: unknown, pretty: boolean): Promise<string | Buffer> {
  if (body === undefined) return ''
  if (!hasLongList(body)) return `${JSON.stringify(body, null, pretty ? 2 : undefined)}\n`
  const known = encoded.get(body) ?? new Map<boolean, Promise<Buffer>>()
  encoded.set(body, known)
  const buffer = known.get(pretty) ?? inPieces(body, pretty)
  known.set(pretty, buffer)
  return buffer
}

function hasLongList(body: unknown): body is object {
  if (typeof body !== 'object' || body === null) return false
  if ('values' in body && isLong(body.values)) return true
  if ('valueRange' in body) return hasLongList(body.valueRange)
  return 'valueRanges' in body && Array.isArray(body.valueRanges) && body.valueRanges.some(hasLongList)
}

function isLong(list: unknown): list is unknown[] {
  return Array.isArray(list) && list.length > rowsAtOnce
}

async function inPieces(body: object, pretty: boolean): Promise<Buffer> {
  const lists: unknown[][] = []
  const withMarks = (key: string, value: unknown): unknown =>
    key === 'values' && isLong(value) ? `${mark}${lists.push(value) - 1}` : value
  const outline = JSON.stringify(body, withMarks, pretty ? 2 : undefined)
  const pieces: Buffer[] = []
  let at = 0
  for (const [index, list] of lists.entries()) {
    const quoted = `"${mark}${index}"`
    const found = outline.indexOf(quoted, at)
    const before = outline.slice(at, found)
    const indent = /\n( *)[^\n]*$/.exec(before)?.[1] ?? ''
    pieces.push(Buffer.from(before))
    for await (const piece of piecesOfList(list, pretty, indent)) pieces.push(Buffer.from(piece))
    at = found + quoted.length
  }
  pieces.push(Buffer.from(`${outline.slice(at)}\n`))
  return Buffer.concat(pieces)
}

async function* piecesOfList(list: unknown[], pretty: boolean, indent: string): AsyncGenerator<string> {
  for (let at = 0; at < list.length; at += rowsAtOnce) {
    const slice = list.slice(at, at + rowsAtOnce)
    const lines = pretty ? indentedLines(slice, indent) : JSON.stringify(slice).slice(1, -1)
    yield `${at === 0 ? '[' : ','}${lines}`
    await otherCallsFirst()
  }
  yield pretty ? `\n${indent}]` : ']'
}

/** Between the brackets of a list that stands so deep: JSON.stringify indents faster than we could afterwards. */
function indentedLines(slice: unknown[], indent: string): string {
  let wrapped: unknown = slice
  let before = '['
  let after = `\n${indent}]`
  for (let depth = indent.length / 2 - 1; depth >= 0; depth -= 1) {
    wrapped = [wrapped]
    before = `[\n${'  '.repeat(depth + 1)}${before}`
    after = `${after}\n${'  '.repeat(depth)}]`
  }
  return JSON.stringify(wrapped, null, 2).slice(before.length, -after.length)
}
