import { adjustFormulas } from './formula/formula-references.ts'
import { invalidArgument } from './google-error.ts'
import {
  type Area,
  type Dimension,
  isJsonObject,
  type Json,
  type JsonObject,
  type Sheet,
  type Spreadsheet,
} from './model.ts'

/** Where an index lies after lines came or went; removed lines fall together at `start`. */
type Move = (index: number) => number

export function insertLines(
  spreadsheet: Spreadsheet,
  sheet: Sheet,
  dimension: Dimension,
  start: number,
  count: number,
  inheritFromBefore: boolean,
): void {
  const model = inheritFromBefore ? start - 1 : start
  if (dimension === 'ROWS') {
    if (start < sheet.rows.length) {
      const formats = (sheet.rows[model] ?? []).map((cell) =>
        cell?.format ? { format: cell.format } : undefined,
      )
      const inherited = formats.some(Boolean) && inheritFromBefore ? formats : []
      const fresh = Array.from({ length: count }, () => inherited)
      sheet.rows = sheet.rows.slice(0, start).concat(fresh, sheet.rows.slice(start))
    }
    sheet.rowProperties = withFresh(sheet.rowProperties, start, count)
    sheet.rowCount += count
  } else {
    sheet.rows = sheet.rows.map((row) =>
      row.length > start
        ? [...row.slice(0, start), ...Array.from({ length: count }, () => undefined), ...row.slice(start)]
        : row,
    )
    sheet.columnProperties = withFresh(sheet.columnProperties, start, count)
    sheet.columnCount += count
  }
  moveEverything(spreadsheet, sheet, dimension, (index) => (index >= start ? index + count : index), start)
  adjustFormulas(spreadsheet, { sheet, dimension, start, count })
}

function withFresh(lines: JsonObject[], start: number, count: number): JsonObject[] {
  if (start >= lines.length) return lines
  return lines.slice(0, start).concat(
    Array.from({ length: count }, () => ({})),
    lines.slice(start),
  )
}

export function removeLines(
  spreadsheet: Spreadsheet,
  sheet: Sheet,
  dimension: Dimension,
  start: number,
  end: number,
): void {
  const size = dimension === 'ROWS' ? sheet.rowCount : sheet.columnCount
  const count = Math.min(end, size) - start
  if (count >= size) {
    throw invalidArgument(
      `You can't delete all the ${dimension === 'ROWS' ? 'rows' : 'columns'} on the sheet.`,
    )
  }
  const frozenName = dimension === 'ROWS' ? 'frozenRowCount' : 'frozenColumnCount'
  const frozen = Number(sheet.gridProperties[frozenName] ?? 0)
  const frozenLeft = frozen - Math.max(0, Math.min(frozen, start + count) - start)
  if (size - count <= frozenLeft) {
    const word = dimension === 'ROWS' ? 'rows' : 'columns'
    throw invalidArgument(`Sorry, it is not possible to delete all non-frozen ${word}.`)
  }
  if (frozenLeft > 0) sheet.gridProperties[frozenName] = frozenLeft
  else delete sheet.gridProperties[frozenName]
  if (dimension === 'ROWS') {
    sheet.rows.splice(start, count)
    sheet.rowProperties.splice(start, count)
    sheet.rowCount -= count
  } else {
    sheet.rows = sheet.rows.map((row) => (row.length > start ? row.toSpliced(start, count) : row))
    sheet.columnProperties.splice(start, count)
    sheet.columnCount -= count
  }
  moveEverything(spreadsheet, sheet, dimension, (index) =>
    index >= start + count ? index - count : Math.min(index, start),
  )
  adjustFormulas(spreadsheet, { sheet, dimension, start, count: -count })
}

/** `target` is where the lines go, counted before they leave their place, as `moveDimension` counts. */
export function moveLines(
  spreadsheet: Spreadsheet,
  sheet: Sheet,
  dimension: Dimension,
  { start, end, target, size }: { start: number; end: number; target: number; size: number },
): void {
  const moved = <T>(lines: readonly T[]): T[] => {
    const rest = [...lines.slice(0, start), ...lines.slice(end)]
    return rest.toSpliced(target > start ? target - (end - start) : target, 0, ...lines.slice(start, end))
  }
  const order = moved(Array.from({ length: Math.max(size, target) }, (_, index) => index))
  moveMetadata(spreadsheet, sheet, dimension, (index) => order.indexOf(index))
  if (dimension === 'ROWS') sheet.rows = moved(padded(sheet.rows, Math.max(end, target), []))
  else sheet.rows = sheet.rows.map((row) => moved(padded(row, Math.max(end, target), undefined)))
}

function padded<T>(lines: readonly T[], length: number, empty: T): T[] {
  return lines.concat(Array.from({ length: Math.max(0, length - lines.length) }, () => empty))
}

/** Metadata goes where its line goes; cells and their sizes the caller moves himself. */
function moveMetadata(spreadsheet: Spreadsheet, sheet: Sheet, dimension: Dimension, move: Move): void {
  spreadsheet.metadata = spreadsheet.metadata.map((entry) => {
    const { place } = entry
    if (place.kind !== dimension || place.sheetId !== sheet.sheetId) return entry
    const startIndex = move(place.startIndex)
    return { ...entry, place: { ...place, startIndex, endIndex: startIndex + 1 } }
  })
}

/** Merges, metadata, named ranges, filters and protections travel with their lines; what lost all lines goes. */
function moveEverything(
  spreadsheet: Spreadsheet,
  sheet: Sheet,
  dimension: Dimension,
  move: Move,
  insertedAt?: number,
): void {
  // The end of a range lies before its index: it must not grow when lines come right behind it.
  const moveEnd: Move = (end) => (insertedAt !== undefined && end === insertedAt ? end : move(end))
  const [start, end] =
    dimension === 'ROWS' ? (['startRow', 'endRow'] as const) : (['startColumn', 'endColumn'] as const)
  sheet.merges = sheet.merges
    .map((area): Area => ({ ...area, [start]: move(area[start]), [end]: moveEnd(area[end]) }))
    .filter((area) => area[start] < area[end])
  spreadsheet.metadata = spreadsheet.metadata.flatMap((entry) => {
    const { place } = entry
    if (place.kind !== dimension || place.sheetId !== sheet.sheetId) return [entry]
    const moved = { ...place, startIndex: move(place.startIndex), endIndex: moveEnd(place.endIndex) }
    return moved.startIndex < moved.endIndex ? [{ ...entry, place: moved }] : []
  })
  spreadsheet.namedRanges = spreadsheet.namedRanges.flatMap((named) => {
    const range = movedRange(named.range, sheet, dimension, move, moveEnd)
    return range ? [{ ...named, range }] : []
  })
  sheet.attachments = movedAttachments(sheet, dimension, move, moveEnd)
}

function movedAttachments(sheet: Sheet, dimension: Dimension, move: Move, moveEnd: Move): JsonObject {
  const moved: JsonObject = {}
  for (const [name, value] of Object.entries(sheet.attachments)) {
    const next = Array.isArray(value)
      ? value.flatMap((one) => movedMember(one, sheet, dimension, move, moveEnd))
      : movedMember(value, sheet, dimension, move, moveEnd)[0]
    if (next !== undefined && !(Array.isArray(next) && next.length === 0)) moved[name] = next
  }
  return moved
}

function movedMember(value: Json, sheet: Sheet, dimension: Dimension, move: Move, moveEnd: Move): Json[] {
  if (!isJsonObject(value) || !isJsonObject(value.range)) return [value]
  const range = movedRange(value.range, sheet, dimension, move, moveEnd)
  return range ? [{ ...value, range }] : []
}

function movedRange(
  range: JsonObject,
  sheet: Sheet,
  dimension: Dimension,
  move: Move,
  moveEnd: Move,
): JsonObject | undefined {
  if ((range.sheetId ?? 0) !== sheet.sheetId) return range
  const isLines = range.dimension !== undefined
  if (isLines && range.dimension !== dimension) return range
  const word = dimension === 'ROWS' ? 'Row' : 'Column'
  const [start, end] = isLines ? ['startIndex', 'endIndex'] : [`start${word}Index`, `end${word}Index`]
  const from = range[start]
  const to = range[end]
  const moved = { ...range }
  if (typeof from === 'number') moved[start] = move(from)
  if (typeof to === 'number') moved[end] = moveEnd(to)
  const empty = typeof to === 'number' && Number(moved[end]) <= Number(moved[start] ?? 0)
  return empty ? undefined : moved
}
