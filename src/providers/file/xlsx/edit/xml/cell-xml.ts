import type { Cell } from '../../../../../sheets/rows/grid.ts'
import { MAX_WRITTEN_TEXT_CHARS } from '../../container/limits.ts'
import { escapeText } from './xml-edits.ts'

/** Below this, Excel knows only zero. */
const SMALLEST_NUMBER = 2 ** -1022

/** Why a workbook cannot hold this cell so that it reads back equal, in words for the client; undefined = it can. */
export function whyUnfitForXlsx(cell: Cell): string | undefined {
  if (typeof cell === 'number') {
    if (!Number.isFinite(cell)) return 'An Excel workbook cannot hold a number that is not finite.'
    if (cell !== 0 && Math.abs(cell) < SMALLEST_NUMBER) {
      return `An Excel workbook cannot hold a number as small as ${cell}.`
    }
  }
  if (typeof cell !== 'string') return undefined
  if (cell.length > MAX_WRITTEN_TEXT_CHARS) {
    return `A cell of an Excel workbook holds 32,767 characters; this text has ${cell.length}.`
  }
  if (cell.includes('\0')) return 'An Excel workbook cannot hold the character U+0000.'
  return cell.isWellFormed() ? undefined : 'An Excel workbook cannot hold half of a surrogate pair.'
}

/** A value, or the text of a date or time that the cell is to be, with the style that it had ('' where it had none). */
export type CellToWrite = Cell | TimeToWrite

export interface TimeToWrite {
  time: string
  timeStyle: string
}

/** Nothing at all for an empty cell without a style of its own. Texts are inline, so no other part has to change. */
export function writeCellXml(
  reference: string,
  cell: Cell,
  style: string | undefined,
  prefix: string,
): string {
  const attributes = ` r="${reference}"${style === undefined ? '' : ` s="${style}"`}`
  if (cell === null) return style === undefined ? '' : `<${prefix}c${attributes}/>`
  if (typeof cell === 'string') {
    const text = `<${prefix}t xml:space="preserve">${encodeXstring(cell)}</${prefix}t>`
    return `<${prefix}c${attributes} t="inlineStr"><${prefix}is>${text}</${prefix}is></${prefix}c>`
  }
  const value = typeof cell === 'boolean' ? Number(cell) : cell
  const type = typeof cell === 'boolean' ? ' t="b"' : ''
  return `<${prefix}c${attributes}${type}><${prefix}v>${value}</${prefix}v></${prefix}c>`
}

const NOT_IN_XML = String.raw`\u0000-\u0008\u000b-\u001f\ufffe\uffff`
const TO_BE_ENCODED = new RegExp(`_(?=x[0-9a-fA-F]{4}[_${NOT_IN_XML}])|[${NOT_IN_XML}]`, 'g')

/** The reverse of `decodeXstring`: what XML cannot carry, and what would look like our way to carry it. */
function encodeXstring(text: string): string {
  const encoded = text.replace(
    TO_BE_ENCODED,
    (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  )
  return escapeText(encoded)
}
