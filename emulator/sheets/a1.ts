/** A1 notation: reading what callers write, and writing ranges as Google echoes them. */

export interface A1Range {
  sheet?: string
  /** Zero-based and inclusive; absent where the range is open. */
  startRow?: number
  startColumn?: number
  endRow?: number
  endColumn?: number
  /** The part that is no cell reference: a tab title or a named range. */
  name?: string
}

interface Corner {
  row?: number
  column?: number
}

const CELL = /^\$?([A-Za-z]{1,3})?\$?([1-9][0-9]*)?$/
const R1C1_CELL = /^R([1-9][0-9]*)C([1-9][0-9]*)$/i

/** undefined where the text is no range at all. */
export function parseA1(text: string): A1Range | undefined {
  const split = splitSheet(text)
  if (!split) return undefined
  const { sheet, rest } = split
  if (rest === undefined) return sheet === undefined ? undefined : { sheet }
  const cells = parseCells(rest)
  if (cells) return sheet === undefined ? cells : { sheet, ...cells }
  if (rest === '') return undefined
  return sheet === undefined ? { name: rest } : { sheet, name: rest }
}

function splitSheet(text: string): { sheet?: string; rest?: string } | undefined {
  if (text.startsWith("'")) {
    const quoted = /^'((?:[^']|'')*)'(?:!(.*))?$/s.exec(text)
    if (!quoted) return undefined
    const sheet = (quoted[1] ?? '').replaceAll("''", "'")
    return quoted[2] === undefined ? { sheet } : { sheet, rest: quoted[2] }
  }
  const bang = text.lastIndexOf('!')
  if (bang === -1) return { rest: text }
  return { sheet: text.slice(0, bang), rest: text.slice(bang + 1) }
}

export function parseCells(text: string): A1Range | undefined {
  const parts = text.split(':')
  if (parts.length > 2) return undefined
  const first = parseCorner(parts[0] ?? '')
  if (!first) return undefined
  if (parts.length === 1) {
    // A lone column or row is no range: "A" is read as a name.
    if (first.row === undefined || first.column === undefined) return undefined
    return { startRow: first.row, startColumn: first.column, endRow: first.row, endColumn: first.column }
  }
  const second = parseCorner(parts[1] ?? '')
  if (!second) return undefined
  return betweenCorners(first, second)
}

function betweenCorners(first: Corner, second: Corner): A1Range {
  const range: A1Range = {}
  const rows = [first.row, second.row].filter((row) => row !== undefined)
  const columns = [first.column, second.column].filter((column) => column !== undefined)
  const bothRows = rows.length === 2
  const bothColumns = columns.length === 2
  if (rows.length > 0) range.startRow = Math.min(...rows)
  if (columns.length > 0) range.startColumn = Math.min(...columns)
  if (bothRows) range.endRow = Math.max(...rows)
  if (bothColumns) range.endColumn = Math.max(...columns)
  return range
}

function parseCorner(text: string): Corner | undefined {
  const r1c1 = R1C1_CELL.exec(text)
  if (r1c1) return { row: Number(r1c1[1]) - 1, column: Number(r1c1[2]) - 1 }
  const match = CELL.exec(text)
  if (!match || (match[1] === undefined && match[2] === undefined)) return undefined
  const corner: Corner = {}
  if (match[1] !== undefined) corner.column = columnIndex(match[1])
  if (match[2] !== undefined) corner.row = Number(match[2]) - 1
  return corner
}

export function columnIndex(letters: string): number {
  let index = 0
  for (const letter of letters.toUpperCase()) index = index * 26 + letter.charCodeAt(0) - 64
  return index - 1
}

export function columnLetters(index: number): string {
  let letters = ''
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters
  }
  return letters
}

export function quoteTitle(title: string): string {
  const plain = /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(title)
  const likeCell = /^[A-Za-z]{1,3}[0-9]+$/.test(title) || /^R[0-9]*C[0-9]*$/i.test(title)
  const likeBoolean = /^(true|false)$/i.test(title)
  return plain && !likeCell && !likeBoolean ? title : `'${title.replaceAll("'", "''")}'`
}

export function cellName(row: number, column: number): string {
  return `${columnLetters(column)}${row + 1}`
}

/** Half-open bounds in, 'Tab'!A1:B2 out; one cell is written without its twin. */
export function writeA1(
  title: string,
  area: { startRow: number; endRow: number; startColumn: number; endColumn: number },
): string {
  const first = cellName(area.startRow, area.startColumn)
  const last = cellName(area.endRow - 1, area.endColumn - 1)
  return `${quoteTitle(title)}!${first === last ? first : `${first}:${last}`}`
}
