import type { Cell, Grid } from '../../../sheets/rows/grid.ts'
import { xlsxFailure } from '../xlsx/container/failure.ts'
import { MAX_CELL_TEXT_CHARS, MAX_GRID_CELLS, MAX_ROWS } from '../xlsx/container/limits.ts'
import type { XmlHandler } from '../xlsx/container/xml.ts'
import type { XmlAttributes } from '../xlsx/container/xml-attributes.ts'
import { formatIsoCell } from '../xlsx/read/date.ts'
import { createGridBuilder } from '../xlsx/read/grid-builder.ts'

interface OdsTab {
  name: string
  isVisible: boolean
}

/** What takes `content.xml` apart (OpenDocument 1.3, part 3, 9). */
export interface ContentHandler extends XmlHandler {
  found(): { grid: Grid | undefined; tabs: readonly OdsTab[] }
}

interface OpenCell {
  column: number
  repeated: number
  type: string | undefined
  value: string | undefined
  hasFormula: boolean
}

/**
 * Its cells say themselves what they are and how they are displayed; only what repeats has to be written out. `wanted`: the name of a tab, undefined for the
 * first visible one, null for none where only their names are asked for.
 */
export function createContentHandler(
  wanted: string | undefined | null,
  values: 'typed' | 'formatted',
): ContentHandler {
  const tabs: OdsTab[] = []
  const hiddenStyles = new Set<string>()
  let style = ''
  let builder = createGridBuilder()
  let grid: Grid | undefined
  let isWanted = false
  let row = 0
  let rowsRepeated = 1
  let column = 0
  let rowCells: { column: number; cell: Cell }[] = []
  let open: OpenCell | undefined
  let cellDepth = 0
  /** Within a comment or a drawing over the cell, whose texts are not its own. */
  let asideDepth = 0
  let paragraphs: string[] = []
  let isInParagraph = false

  function startTable(attributes: XmlAttributes): void {
    const name = attributes.get('table:name') ?? ''
    const isVisible = !hiddenStyles.has(attributes.get('table:style-name') ?? '')
    tabs.push({ name, isVisible })
    const isMeant = wanted === undefined ? isVisible : name.toLowerCase() === wanted?.toLowerCase()
    isWanted = grid === undefined && isMeant
    builder = createGridBuilder()
    row = 0
  }

  function startCell(attributes: XmlAttributes, depth: number): void {
    const type = attributes.get('office:value-type')
    cellDepth = depth
    open = {
      column,
      repeated: count(attributes.get('table:number-columns-repeated')),
      type,
      value:
        attributes.get('office:value') ??
        attributes.get('office:date-value') ??
        attributes.get('office:time-value') ??
        attributes.get('office:boolean-value') ??
        attributes.get('office:string-value'),
      hasFormula: attributes.get('table:formula') !== undefined,
    }
    paragraphs = []
  }

  function endCell({ column: first, repeated, ...written }: OpenCell): void {
    const text = paragraphs.join('\n')
    const cell = values === 'formatted' ? text : typedCell(written, text)
    column = first + repeated
    if (cell === null || cell === '') return
    if (rowCells.length + repeated > MAX_GRID_CELLS) throw xlsxFailure('tooLarge', 'too many cells')
    for (let at = first; at < column; at++) rowCells.push({ column: at, cell })
  }

  function endRow(): void {
    if (row + rowsRepeated > MAX_ROWS && rowCells.length > 0) {
      throw xlsxFailure('tooLarge', 'too many rows')
    }
    if (rowCells.length > 0) {
      for (let at = row; at < row + rowsRepeated; at++) {
        for (const { column: place, cell } of rowCells) builder.set(at, place, cell)
      }
    }
    row += rowsRepeated
  }

  function addText(text: string): void {
    const last = paragraphs.length - 1
    const paragraph = (paragraphs[last] ?? '') + text
    if (paragraph.length > MAX_CELL_TEXT_CHARS) throw xlsxFailure('tooLarge', 'endless text')
    paragraphs[last] = paragraph
  }

  function openInCell(name: string, depth: number, attributes: XmlAttributes): void {
    if (asideDepth > 0) return
    if (depth === cellDepth + 1 && name !== 'p') asideDepth = depth
    else if (name === 'p') {
      paragraphs.push('')
      isInParagraph = true
    } else if (name === 's')
      addText(' '.repeat(Math.min(count(attributes.get('text:c')), MAX_CELL_TEXT_CHARS)))
    else if (name === 'tab') addText('\t')
    else if (name === 'line-break') addText('\n')
    else if (name === 'annotation' || name === 'note') asideDepth = depth
  }

  return {
    open(name, depth, attributes) {
      if (open) return openInCell(name, depth, attributes)
      switch (name) {
        case 'style':
          style = attributes.get('style:name') ?? ''
          return
        case 'table-properties':
          if (attributes.get('table:display') === 'false') hiddenStyles.add(style)
          return
        case 'table':
          return startTable(attributes)
        case 'table-row':
          rowsRepeated = count(attributes.get('table:number-rows-repeated'))
          column = 0
          rowCells = []
          return
        case 'table-cell':
        case 'covered-table-cell':
          if (isWanted) startCell(attributes, depth)
      }
    },
    text(text) {
      if (open && isInParagraph && asideDepth === 0) addText(text)
    },
    close(name, depth) {
      if (open) {
        if (depth === asideDepth) asideDepth = 0
        else if (asideDepth === 0 && name === 'p') isInParagraph = false
        if (depth !== cellDepth) return
        endCell(open)
        open = undefined
      } else if (name === 'table-row' && isWanted) endRow()
      else if (name === 'table' && isWanted) {
        grid = builder.finish()
        isWanted = false
      }
    },
    found: () => ({ grid, tabs }),
  }
}

function typedCell({ type, value, hasFormula }: Omit<OpenCell, 'column' | 'repeated'>, text: string): Cell {
  switch (type) {
    case 'float':
    case 'percentage':
    case 'currency': {
      // A formula that failed has a number that nobody sees, and its error as text.
      if (hasFormula && /^(?:#[A-Z/0!?]+|Err:\d+)$/.test(text)) return text
      const number = Number(value)
      return value === undefined || value.trim() === '' || !Number.isFinite(number) ? text : number + 0
    }
    case 'date':
    case 'time':
      return value === undefined ? text : formatIsoCell(value, 'number', false)
    case 'boolean':
      return value === 'true' || (value === 'false' ? false : text)
    default:
      return text === '' ? (value ?? null) : text
  }
}

function count(written: string | undefined): number {
  return written !== undefined && /^[1-9]\d{0,7}$/.test(written) ? Number(written) : 1
}
