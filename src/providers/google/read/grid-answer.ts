import { marks } from '../../../json-marks.ts'
import { listOf, parseJsonBytes } from '../../remote/json-fields.ts'

const { quote, comma, openingBracket, backslash, closingBracket, openingBrace, closingBrace } = marks

/** How Google begins the rows of a range when it writes without spaces. */
const rowsBegin = Buffer.from('"rowData":[')
/** Looked through in a millisecond. */
const lookedAtBytes = 1024 * 1024
/** Parsed in a millisecond or two; a row is not cut. */
const parsedBytes = 128 * 1024

/** Some rows of a range that lie one after the other. */
interface Piece {
  range: number
  from: number
  to: number
}

/**
 * What JSON.parse makes of an answer with cells, a little at a time: Google tells each cell with its formats, and the thousand rows of one
 * change would keep everybody waiting for a tenth of a second and more. `undefined` is no JSON.
 */
export async function parseGridAnswer(body: Buffer<ArrayBuffer>): Promise<unknown> {
  if (body.byteLength <= parsedBytes) return parseJsonBytes(body)
  const outline = await outlineOf(body)
  const answer = outline ? parseJsonBytes(Buffer.concat(outline.around)) : undefined
  if (!outline || answer === undefined) return undefined
  const ranges = rowsIn(answer)
  if (ranges.length !== outline.ranges) return parseJsonBytes(body)
  let bytesInTurn = 0
  for (const { range, from, to } of outline.pieces) {
    bytesInTurn += to - from
    if (bytesInTurn >= parsedBytes) {
      bytesInTurn = 0
      await new Promise(setImmediate)
    }
    const rows = parseJsonBytes(Buffer.concat([listBegins, body.subarray(from, to), listEnds]))
    if (rows === undefined) return undefined
    for (const row of listOf(rows)) ranges[range]?.push(row)
  }
  return answer
}

const listBegins = Buffer.from('[')
const listEnds = Buffer.from(']')

/** Where the rows are, and all that is around them; null where it is not written as it should be. */
async function outlineOf(
  body: Buffer,
): Promise<{ around: Buffer[]; pieces: Piece[]; ranges: number } | null> {
  const around: Buffer[] = []
  const pieces: Piece[] = []
  let ranges = 0
  let aroundFrom = 0
  /** How deep the rows of the range are; 0 outside of one. */
  let rowsDepth = 0
  let pieceFrom = 0
  let depth = 0
  let lookedAt = 0
  for (let at = 0; at < body.length; at++) {
    switch (body[at]) {
      case quote:
        at = endOfText(body, at)
        if (at === -1) return null
        break
      case openingBracket:
        depth++
        if (rowsDepth > 0 || !endsWithRowsBegin(body, at)) break
        rowsDepth = depth
        around.push(body.subarray(aroundFrom, at + 1))
        pieceFrom = at + 1
        break
      case openingBrace:
        depth++
        break
      case closingBracket:
        if (depth === rowsDepth) {
          if (at > pieceFrom) pieces.push({ range: ranges, from: pieceFrom, to: at })
          ranges++
          rowsDepth = 0
          aroundFrom = at
        }
        depth--
        break
      case closingBrace:
        depth--
        break
      case comma:
        if (depth !== rowsDepth || at - pieceFrom < parsedBytes) break
        pieces.push({ range: ranges, from: pieceFrom, to: at })
        pieceFrom = at + 1
    }
    if (at - lookedAt < lookedAtBytes) continue
    lookedAt = at
    await new Promise(setImmediate)
  }
  around.push(body.subarray(aroundFrom))
  return rowsDepth === 0 ? { around, pieces, ranges } : null
}

function endsWithRowsBegin(body: Buffer, at: number): boolean {
  const from = at + 1 - rowsBegin.length
  return from >= 0 && rowsBegin.compare(body, from, at + 1) === 0
}

/** Where the quote is that ends the text whose first one is at `from`; -1 where there is none. */
function endOfText(body: Buffer, from: number): number {
  for (let at = from + 1; at < body.length; at++) {
    if (body[at] === backslash) at++
    else if (body[at] === quote) return at
  }
  return -1
}

/** The rows of each range, empty yet, in the order in which they stand in the text. */
function rowsIn(answer: unknown): unknown[][] {
  if (typeof answer !== 'object' || answer === null) return []
  return Object.entries(answer).flatMap(([name, value]) =>
    name === 'rowData' && Array.isArray(value) ? [value] : rowsIn(value),
  )
}
