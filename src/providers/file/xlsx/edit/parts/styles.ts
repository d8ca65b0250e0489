import type { Cell } from '../../../../../sheets/rows/grid.ts'
import { xlsxFailure } from '../../container/failure.ts'
import { MAX_CELL_FORMATS, MAX_STYLES_PART_BYTES } from '../../container/limits.ts'
import { readPartText, type XmlPart } from '../../container/part.ts'
import type { ZipArchive } from '../../container/zip.ts'
import { formatSerial, serialOfIsoCell } from '../../read/date.ts'
import type { NumberFormat, NumberFormatKind } from '../../read/number-format.ts'
import type { TimeToWrite } from '../xml/cell-xml.ts'
import { XmlEdits } from '../xml/xml-edits.ts'
import { readXmlTree, type XmlElement } from '../xml/xml-tree.ts'

/** The number format General. */
const GENERAL = '0'
/** Built-in formats, by what they show. */
const TIME_FORMATS = { date: '14', 'date-time': '22', time: '21', duration: '46' } as const

/** Chooses styles that show a number as a number and a date as a date, and makes them where the workbook has none. */
export interface Styles {
  /** A style that looks like this one and under which the number reads back as itself, not as a date. */
  forNumber(value: number, style: string | undefined): string | undefined
  /**
   * The number that is this date or time, and a style that shows it as one: the one that it had, or one that looks like that which the
   * cell would have otherwise. The text itself where there is no such number.
   */
  forTime(time: TimeToWrite, style: string | undefined): { cell: Cell; style: string | undefined }
  /** The styles part, if a style was added to it. */
  changedPart(): XmlPart | undefined
}

export async function openStyles(
  archive: ZipArchive,
  path: string | undefined,
  formats: readonly NumberFormat[],
  uses1904: boolean,
): Promise<Styles> {
  const part =
    path === undefined || !archive.has(path)
      ? undefined
      : await readPartText(archive, path, MAX_STYLES_PART_BYTES)
  /** Made when first needed: most writes need no new style. */
  let table: StyleTable | undefined

  return {
    forNumber(value, style) {
      const index = style === undefined ? 0 : Number(style)
      if ((formats[index]?.(value) ?? 'number') === 'number' || part === undefined) return style
      table ??= openTable(part.text)
      return String(table.twin(index, GENERAL))
    },
    forTime({ time: text, timeStyle }, style) {
      const serial = serialOfIsoCell(text, uses1904)
      if (serial === undefined || part === undefined) return { cell: text, style }
      const isRead = (kind: NumberFormatKind) => formatSerial(serial, kind, uses1904) === text
      const index = style === undefined ? 0 : Number(style)
      for (const [its, at] of [
        [timeStyle, Number(timeStyle)],
        [style, index],
      ] as const) {
        if (its !== '' && isRead(formats[at]?.(serial) ?? 'number')) return { cell: serial, style: its }
      }
      const kind = (['date', 'date-time', 'time', 'duration'] as const).find(isRead)
      if (kind === undefined) return { cell: text, style }
      table ??= openTable(part.text)
      const twin = table.twin(index, TIME_FORMATS[kind])
      return twin === index ? { cell: text, style } : { cell: serial, style: String(twin) }
    },
    changedPart: () => (part && table?.isChanged() ? { ...part, text: table.toText() } : undefined),
  }
}

interface StyleTable {
  /** A style like this one with another number format; itself where there is no such style. */
  twin(index: number, numberFormat: string): number
  isChanged(): boolean
  toText(): string
}

function openTable(text: string): StyleTable {
  const edits = new XmlEdits(text)
  const list = readXmlTree(text).child('cellXfs')
  const styles = list?.children.filter(({ name }) => name === 'xf') ?? []
  const written = styles.map(({ start, end }) => text.slice(start, end))
  const known = written.length
  const twins = new Map<string, number>()

  function addTwin(style: XmlElement, numberFormat: string): number {
    const twin = new XmlEdits(text)
    twin.setAttribute(style, 'numFmtId', numberFormat)
    if (numberFormat !== GENERAL) twin.setAttribute(style, 'applyNumberFormat', '1')
    const xml = [...twin.pieces(style.start, style.end)].join('')
    const same = written.indexOf(xml)
    if (same !== -1) return same
    if (written.length === MAX_CELL_FORMATS) throw xlsxFailure('tooLarge', 'no room for another style')
    return written.push(xml) - 1
  }

  return {
    twin(index, numberFormat) {
      const style = styles[index]
      if (style === undefined) return index
      const name = `${index} ${numberFormat}`
      const twin = twins.get(name) ?? addTwin(style, numberFormat)
      twins.set(name, twin)
      return twin
    },
    isChanged: () => written.length > known,
    toText() {
      if (list === undefined) return text
      edits.append(list, written.slice(known).join(''))
      if (list.attribute('count') !== undefined) edits.setAttribute(list, 'count', String(written.length))
      return edits.toText()
    },
  }
}
