import { xlsxFailure } from './failure.ts'
import { MAX_CELL_FORMATS, MAX_STYLES_PART_BYTES } from './limits.ts'
import { builtInFormat, type NumberFormat, parseNumberFormat } from './number-format.ts'
import { readXmlPart } from './part.ts'
import type { ZipArchive } from './zip.ts'

/** The number format of each cell style, by the index cells name it with (`s`). */
export async function readCellFormats(
  archive: ZipArchive,
  path: string | undefined,
): Promise<NumberFormat[]> {
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
  const formats = new Map<string, NumberFormat>()
  return formatIds.map((id) => {
    const known = formats.get(id)
    if (known !== undefined) return known
    const code = codes.get(id)
    const format = code === undefined ? builtInFormat(Number(id)) : parseNumberFormat(code)
    formats.set(id, format)
    return format
  })
}
