import { basename, extname } from 'node:path'
import { kindOf } from '../../providers/file/file-location.ts'
import { Problem } from '../problem.ts'

const maxNameCharacters = 100
/** Disks take 255 bytes, and we put something behind it: a number, or the word for what was saved too late. */
const maxNameBytes = 200
const longestEnding = '.xlsx'.length

/** What is left of a name when nothing in it can mean anything to a file system. */
export function nameToKeep(wanted: string): string | Problem {
  const plain = basename(wanted.replaceAll('\\', '/'))
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N} ._()-]/gu, '_')
    .replace(/^[. ]+/, '')
  const end = extname(plain)
  const start = plain.slice(0, plain.length - end.length)
  const name = firstOf(start, maxNameCharacters - end.length).trim() + end
  if (name === '' || name === end || !kindOf(name)) return notASheet
  return Buffer.byteLength(name) > maxNameBytes ? nameTooLong : name
}

/** What a file is to be called instead; a problem with another ending, which says how a file is read. */
export function newNameOf(name: string, wanted: string): string | Problem {
  const ending = extname(name)
  if (extname(wanted).toLowerCase() !== ending.toLowerCase()) {
    return new Problem(`The name must end with ${ending}, as before: the ending says how the file is read.`, {
      field: 'to',
    })
  }
  const kept = nameToKeep(wanted)
  return kept instanceof Problem ? new Problem(kept.message, { ...kept.facts, field: 'to' }) : kept
}

/** Characters as people count them: half of one is none. */
function firstOf(text: string, characters: number): string {
  return Array.from(text).slice(0, Math.max(0, characters)).join('')
}

export const notASheet = new Problem('This isn’t a CSV file or a workbook (.csv, .tsv, .xlsx, .ods).', {
  field: 'file',
})
const nameTooLong = new Problem(
  `The name of the file is too long: it may take ${maxNameBytes} bytes, which are about ${Math.floor((maxNameBytes - longestEnding) / 3)} Chinese or Japanese characters. Give it a shorter one.`,
  { field: 'file' },
)
