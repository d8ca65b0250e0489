import { MAX_FOLLOWED_PART_BYTES } from '../../container/limits.ts'
import { readPartText, type XmlPart } from '../../container/part.ts'
import type { Relationship } from '../../container/relationships.ts'
import type { ZipArchive } from '../../container/zip.ts'
import { parseRange, shiftRange, writeRange } from '../formulas/range.ts'
import type { RowShift } from '../formulas/row-shift.ts'
import { XmlEdits } from '../xml/xml-edits.ts'
import { readXmlTree, type XmlElement } from '../xml/xml-tree.ts'
import { openPart } from './open-part.ts'

/**
 * Comments go with their rows. Each stands in up to three parts: its text, since 2018 a thread as well, and a box in a drawing of
 * the old kind (VML), which says once more what cell it is of.
 */
export async function shiftComments(
  archive: ZipArchive,
  relationships: readonly Relationship[],
  shift: RowShift,
): Promise<(XmlPart | undefined)[]> {
  const changed: (XmlPart | undefined)[] = []
  for (const { type, path } of relationships) {
    if (!archive.has(path)) continue
    if (type === 'comments' || type === 'threadedComment')
      changed.push(await shiftTexts(archive, path, shift))
    if (type === 'vmlDrawing') changed.push(await shiftBoxes(archive, path, shift))
  }
  return changed
}

async function shiftTexts(archive: ZipArchive, path: string, shift: RowShift): Promise<XmlPart | undefined> {
  const { part, root } = await openPart(archive, path)
  const edits = new XmlEdits(part.text)
  for (const element of root.descendants()) {
    if (element.name !== 'comment' && element.name !== 'threadedComment') continue
    const range = parseRange(element.attribute('ref') ?? '')
    if (range === undefined) continue
    const left = shiftRange(range, shift)
    if (left === null) edits.remove(element)
    else edits.setAttribute(element, 'ref', writeRange(left))
  }
  return edits.isEmpty ? undefined : { ...part, text: edits.toText() }
}

/** Where the rows of an anchor stand among its eight numbers: left, offset, top, offset, right, offset, bottom, offset. */
const ANCHOR_NUMBERS = 8
const ANCHOR_ROWS = [2, 6]

async function shiftBoxes(archive: ZipArchive, path: string, shift: RowShift): Promise<XmlPart | undefined> {
  const part = await readPartText(archive, path, MAX_FOLLOWED_PART_BYTES)
  const root = notesIn(part, shift)
  if (root === undefined) return undefined
  const edits = new XmlEdits(part.text)
  for (const shape of root.descendants()) {
    const note = shape.children.find(isNote)
    const row = rowOf(note?.child('Row'))
    if (note === undefined || row === undefined) continue
    if (shift.isDeleted(row)) {
      edits.remove(shape)
      continue
    }
    const up = row - shift.newRow(row)
    if (up === 0) continue
    setText(note.child('Row'), String(row - 1 - up), edits)
    const anchor = note.child('Anchor')
    const numbers = anchor?.text.split(',').map(Number) ?? []
    if (numbers.length !== ANCHOR_NUMBERS || numbers.some(Number.isNaN)) continue
    const moved = numbers.map((number, at) => (ANCHOR_ROWS.includes(at) ? Math.max(0, number - up) : number))
    setText(anchor, moved.join(', '), edits)
  }
  return edits.isEmpty ? undefined : { ...part, text: edits.toText() }
}

/** Some programs write VML that is no XML; where it has no box of a comment, nothing in it has to follow. */
function notesIn({ text }: XmlPart, shift: RowShift): XmlElement | undefined {
  if (!/ObjectType\s*=\s*["']Note/.test(text)) return undefined
  try {
    return readXmlTree(text)
  } catch {
    throw shift.obstacle('the tab has comments in a drawing that Rowport cannot read')
  }
}

function isNote(element: XmlElement): boolean {
  return element.name === 'ClientData' && element.attribute('ObjectType') === 'Note'
}

/** Counted from 0 there. */
function rowOf(element: XmlElement | undefined): number | undefined {
  const text = element?.text.trim() ?? ''
  return /^\d{1,7}$/.test(text) ? Number(text) + 1 : undefined
}

function setText(element: XmlElement | undefined, text: string, edits: XmlEdits): void {
  if (element) edits.setText(element, text)
}
