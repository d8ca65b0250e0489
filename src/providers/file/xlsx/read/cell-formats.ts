import { xlsxFailure } from '../container/failure.ts'
import { MAX_CELL_FORMATS, MAX_STYLES_PART_BYTES } from '../container/limits.ts'
import { readXmlPart } from '../container/part.ts'
import type { ZipArchive } from '../container/zip.ts'
import { formatSerial } from './date.ts'
import { BUILT_IN_CODES } from './display/built-in-codes.ts'
import { createDisplayFormat, type DisplayFormat, generalFormat } from './display/display-format.ts'
import { builtInFormat, type NumberFormat, parseNumberFormat } from './number-format.ts'

/** What kind of value each cell style makes of a number, by the index cells name it with (`s`). */
export async function readCellFormats(
  archive: ZipArchive,
  path: string | undefined,
): Promise<NumberFormat[]> {
  return readFormats(archive, path, ({ id, code }) =>
    code === undefined ? builtInFormat(id) : parseNumberFormat(code),
  )
}

/** How each cell style shows a cell, by the same index. */
export async function readDisplayFormats(
  archive: ZipArchive,
  path: string | undefined,
): Promise<DisplayFormat[]> {
  return readFormats(archive, path, ({ id, code = BUILT_IN_CODES.get(id) }) =>
    code === undefined ? displayByKind(builtInFormat(id)) : createDisplayFormat(code),
  )
}

/** The code of each cell style, by the same index: for those who want to know what they look at. */
export async function readFormatCodes(archive: ZipArchive, path: string | undefined): Promise<string[]> {
  return readFormats(archive, path, ({ id, code = BUILT_IN_CODES.get(id) }) => code ?? `built-in ${id}`)
}

/** Built-in formats of other languages: what they show is not in the file, but whether it is a date is known. */
function displayByKind(kindOf: NumberFormat): DisplayFormat {
  return {
    ...generalFormat,
    number: (value, uses1904) => {
      const shown = formatSerial(value, kindOf(value), uses1904)
      return typeof shown === 'string' ? shown : generalFormat.number(shown, uses1904)
    },
    showsTime: (value) => kindOf(value) !== 'number',
  }
}

interface WrittenFormat {
  id: number
  /** Absent for a built-in format. */
  code: string | undefined
}

async function readFormats<T>(
  archive: ZipArchive,
  path: string | undefined,
  create: (format: WrittenFormat) => T,
): Promise<T[]> {
  if (path === undefined || !archive.has(path)) return []
  const codes = new Map<string, string>()
  const formatIds: string[] = []
  let section = ''
  await readXmlPart(archive, path, MAX_STYLES_PART_BYTES, {
    open(name, depth, attributes) {
      if (depth === 2) section = name
      if (depth !== 3) return
      if (section === 'numFmts' && name === 'numFmt') {
        codes.set(attributes.get('numFmtId') ?? '', attributes.get('formatCode') ?? '')
      } else if (section === 'cellXfs' && name === 'xf') {
        formatIds.push(attributes.get('numFmtId') ?? '0')
      }
      if (Math.max(codes.size, formatIds.length) > MAX_CELL_FORMATS) {
        throw xlsxFailure('tooLarge', 'too many cell formats')
      }
    },
  })
  const formats = new Map<string, T>()
  return formatIds.map((id) => {
    const known = formats.get(id)
    if (known !== undefined) return known
    const format = create({ id: Number(id), code: codes.get(id) })
    formats.set(id, format)
    return format
  })
}
