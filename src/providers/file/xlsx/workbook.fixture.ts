import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { compressedData, readCentralDirectory } from './container/zip.ts'

/** Workbooks for tests, part by part, so that a test decides on every byte that matters to it. */
export interface ZipPart {
  name: string
  data: string | Uint8Array
  stored?: boolean
  /** Compressed bytes that `data` did not give; the claims then have to say what they stand for. */
  compressed?: Uint8Array
  /** What the headers claim instead of the truth. */
  claims?: {
    inflatedBytes?: number
    checksum?: number
    compressedBytes?: number
    flags?: number
    method?: number
  }
  /** Use the bytes of the part at this index again instead of bringing its own. */
  overlaps?: number
  zip64?: boolean
}

export function zip(parts: readonly ZipPart[], entryCount = parts.length): Uint8Array {
  const local: Uint8Array[] = []
  const central: Buffer[] = []
  const offsets: number[] = []
  let offset = 0
  for (const part of parts) {
    const data = Buffer.from(part.data)
    const compressed = part.compressed ?? (part.stored ? data : deflateRawSync(data))
    const name = Buffer.from(part.name)
    const claims = { flags: 0, method: part.stored ? 0 : 8, checksum: crc32(data), ...part.claims }
    const compressedBytes = part.claims?.compressedBytes ?? compressed.length
    const inflatedBytes = part.claims?.inflatedBytes ?? data.length
    const reusedOffset = part.overlaps === undefined ? undefined : offsets[part.overlaps]
    offsets.push(reusedOffset ?? offset)

    const zip64Field = Buffer.alloc(part.zip64 ? 28 : 0)
    if (part.zip64) {
      zip64Field.writeUInt16LE(1, 0)
      zip64Field.writeUInt16LE(24, 2)
      zip64Field.writeBigUInt64LE(BigInt(inflatedBytes), 4)
      zip64Field.writeBigUInt64LE(BigInt(compressedBytes), 12)
      zip64Field.writeBigUInt64LE(BigInt(reusedOffset ?? offset), 20)
    }
    const header = Buffer.alloc(46)
    header.writeUInt32LE(0x02014b50, 0)
    header.writeUInt16LE(claims.flags, 8)
    header.writeUInt16LE(claims.method, 10)
    header.writeUInt32LE(claims.checksum, 16)
    header.writeUInt32LE(part.zip64 ? 0xffffffff : compressedBytes, 20)
    header.writeUInt32LE(part.zip64 ? 0xffffffff : inflatedBytes, 24)
    header.writeUInt16LE(name.length, 28)
    header.writeUInt16LE(zip64Field.length, 30)
    header.writeUInt32LE(part.zip64 ? 0xffffffff : (reusedOffset ?? offset), 42)
    central.push(header, name, zip64Field)

    if (reusedOffset !== undefined) continue
    const localHeader = Buffer.alloc(30)
    localHeader.writeUInt32LE(0x04034b50, 0)
    localHeader.writeUInt16LE(name.length, 26)
    local.push(localHeader, name, compressed)
    offset += 30 + name.length + compressed.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entryCount, 8)
  end.writeUInt16LE(entryCount, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...local, directory, end])
}

/** All parts of an archive by their names, checksums compared. */
export function unzip(bytes: Uint8Array): Map<string, Buffer> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts = readCentralDirectory(file).map((entry): [string, Buffer] => {
    const compressed = compressedData(file, entry)
    const data = entry.method === 0 ? compressed : inflateRawSync(compressed)
    if (crc32(data) !== entry.checksum) throw new Error(`${entry.key} differs from its checksum`)
    const nameStart = entry.recordStart + 46
    return [file.toString('utf8', nameStart, nameStart + file.readUInt16LE(entry.recordStart + 28)), data]
  })
  return new Map(parts)
}

const TRANSITIONAL = {
  main: 'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
  relationships: 'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
}
const STRICT = {
  main: 'http://purl.oclc.org/ooxml/spreadsheetml/main',
  relationships: 'http://purl.oclc.org/ooxml/officeDocument/relationships',
}

export interface TestTab {
  name: string
  /** The `<row>` elements, or the whole part when it does not begin with `<row`. */
  rows: string
  state?: string
  type?: string
}

export interface TestWorkbook {
  rows?: string
  tabs?: TestTab[]
  /** Number formats by cell style: an id, or a code. */
  formats?: (number | string)[]
  sharedStrings?: string
  workbookProperties?: string
  strict?: boolean
  /** Puts a prefix on every element of the spreadsheet parts. */
  prefix?: string
  /** The last word on the parts before they are zipped. */
  parts?: (parts: ZipPart[]) => ZipPart[]
}

export function workbookParts(workbook: TestWorkbook): ZipPart[] {
  const { main, relationships } = workbook.strict ? STRICT : TRANSITIONAL
  const tabs = workbook.tabs ?? [{ name: 'Sheet1', rows: workbook.rows ?? '' }]
  const prefixed = (xml: string): string => {
    const { prefix } = workbook
    if (prefix === undefined) return xml
    return xml.replace(/<(\/?)(?=[a-zA-Z])/g, `<$1${prefix}:`).replace('xmlns=', `xmlns:${prefix}=`)
  }
  const root = (name: string, content: string): string =>
    prefixed(`<${name} xmlns="${main}" xmlns:r="${relationships}">${content}</${name}>`)
  const relationship = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${relationships}/${type}" Target="${target}"/>`
  const relationshipPart = (content: string): string =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${content}</Relationships>`
  const formats = workbook.formats ?? []
  const codes = formats.map((format, index) =>
    typeof format === 'string' ? `<numFmt numFmtId="${164 + index}" formatCode="${escapeXml(format)}"/>` : '',
  )
  const styles = formats.map(
    (format, index) => `<xf numFmtId="${typeof format === 'string' ? 164 + index : format}"/>`,
  )
  return [
    {
      name: '[Content_Types].xml',
      data: '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    },
    {
      name: '_rels/.rels',
      data: relationshipPart(relationship('rId1', 'officeDocument', 'xl/workbook.xml')),
    },
    {
      name: 'xl/workbook.xml',
      data: root(
        'workbook',
        `${workbook.workbookProperties ?? ''}<sheets>${tabs
          .map(
            ({ name, state }, index) =>
              `<sheet name="${escapeXml(name)}" sheetId="${index + 1}"${state ? ` state="${state}"` : ''} r:id="tab${index}"/>`,
          )
          .join('')}</sheets>`,
      ),
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      data: relationshipPart(
        relationship('styles', 'styles', 'styles.xml') +
          relationship('strings', 'sharedStrings', '/xl/sharedStrings.xml') +
          tabs
            .map(({ type }, index) =>
              relationship(`tab${index}`, type ?? 'worksheet', `worksheets/sheet${index}.xml`),
            )
            .join(''),
      ),
    },
    {
      name: 'xl/styles.xml',
      data: root('styleSheet', `<numFmts>${codes.join('')}</numFmts><cellXfs>${styles.join('')}</cellXfs>`),
    },
    { name: 'xl/sharedStrings.xml', data: root('sst', workbook.sharedStrings ?? '') },
    ...tabs.map(({ rows }, index) => ({
      name: `xl/worksheets/sheet${index}.xml`,
      data:
        rows === '' || rows.startsWith('<row') ? root('worksheet', `<sheetData>${rows}</sheetData>`) : rows,
    })),
  ]
}

export function buildWorkbook(workbook: TestWorkbook): Uint8Array {
  const parts = workbookParts(workbook)
  return zip(workbook.parts?.(parts) ?? parts)
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/** Replaces one part's content. */
export function withPart(name: string, change: Partial<ZipPart>): (parts: ZipPart[]) => ZipPart[] {
  return (parts) => parts.map((part) => (part.name === name ? { ...part, ...change } : part))
}

/** A part that repeats `piece`, compressed without ever being held as a whole. */
export function repeatedPart(
  name: string,
  start: string,
  piece: string,
  count: number,
  end: string,
): ZipPart {
  const flushed = (text: string): Buffer => deflateRawSync(text, { finishFlush: constants.Z_FULL_FLUSH })
  const compressedPiece = flushed(piece)
  const compressed = Buffer.concat([
    flushed(start),
    ...Array.from({ length: count }, () => compressedPiece),
    deflateRawSync(end),
  ])
  let checksum = crc32(start)
  const pieceBytes = Buffer.from(piece)
  for (let index = 0; index < count; index++) checksum = crc32(pieceBytes, checksum)
  const inflatedBytes = Buffer.byteLength(start) + count * pieceBytes.length + Buffer.byteLength(end)
  return { name, data: '', compressed, claims: { checksum: crc32(end, checksum), inflatedBytes } }
}
