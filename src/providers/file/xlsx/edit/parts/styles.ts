import { xlsxFailure } from '../../container/failure.ts'
import { MAX_CELL_FORMATS, MAX_STYLES_PART_BYTES } from '../../container/limits.ts'
import { readPartText, type XmlPart } from '../../container/part.ts'
import type { ZipArchive } from '../../container/zip.ts'
import type { NumberFormat } from '../../read/number-format.ts'
import { XmlEdits } from '../xml/xml-edits.ts'
import { readXmlTree, type XmlElement } from '../xml/xml-tree.ts'

/** The number format General. */
const GENERAL = '0'

/** Chooses styles that show a number as a number, and makes them where the workbook has none. */
export interface Styles {
  /** A style that looks like this one and under which the number reads back as itself, not as a date. */
  forNumber(value: number, style: string | undefined): string | undefined
  /** The styles part, if a style was added to it. */
  changedPart(): XmlPart | undefined
}

export async function openStyles(
  archive: ZipArchive,
  path: string | undefined,
  formats: readonly NumberFormat[],
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
      return String(table.plainTwin(index))
    },
    changedPart: () => (part && table?.isChanged() ? { ...part, text: table.toText() } : undefined),
  }
}

interface StyleTable {
  plainTwin(index: number): number
  isChanged(): boolean
  toText(): string
}

function openTable(text: string): StyleTable {
  const edits = new XmlEdits(text)
  const list = readXmlTree(text).child('cellXfs')
  const styles = list?.children.filter(({ name }) => name === 'xf') ?? []
  const written = styles.map(({ start, end }) => text.slice(start, end))
  const known = written.length
  const twins = new Map<number, number>()

  function addTwin(style: XmlElement): number {
    const twin = new XmlEdits(text)
    twin.setAttribute(style, 'numFmtId', GENERAL)
    const xml = [...twin.pieces(style.start, style.end)].join('')
    const same = written.indexOf(xml)
    if (same !== -1) return same
    if (written.length === MAX_CELL_FORMATS) throw xlsxFailure('tooLarge', 'no room for another style')
    return written.push(xml) - 1
  }

  return {
    plainTwin(index) {
      const style = styles[index]
      if (style === undefined) return index
      const twin = twins.get(index) ?? addTwin(style)
      twins.set(index, twin)
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
