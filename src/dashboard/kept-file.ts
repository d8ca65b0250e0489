import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { acceptedCoding, type Coding, isAsWelcome } from '../http/content-coding.ts'

/** A file that is equal for everybody who asks, and kept in memory: it is small, and does not change. */
export interface KeptFile {
  bytes: Buffer
  type: string
  etag: string
  compressed: Map<Coding, Promise<Buffer>>
  /** Compressed by whoever built it, as small as it gets; null where nobody did. */
  builtCoding: Coding | null
}

const compressible = /^(?:text\/|image\/svg)/
const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)
const zstd = promisify(zstdCompress)
/** Each file is compressed once, so it may take longer than an answer that is made for one reader. */
const compressors: Record<Coding, (bytes: Buffer) => Promise<Buffer>> = {
  // Without its length zstd makes room for the longest text there may be: 80 MB for each that is under way.
  zstd: (bytes) =>
    zstd(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 }, pledgedSrcSize: bytes.length }),
  br: (bytes) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => gzipped(bytes),
}

export function keptFile(type: string, bytes: Buffer, brotli: Buffer | null = null): KeptFile {
  const compressed = new Map(brotli ? [['br' as const, Promise.resolve(brotli)]] : [])
  const etag = `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`
  return { bytes, type, etag, compressed, builtCoding: brotli && 'br' }
}

/** Whether the client has it. What packs answers on their way marks ETags as weak. */
export function isKnown({ headers }: IncomingMessage, { etag }: KeptFile): boolean {
  const known = headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, '')) ?? []
  return known.includes(etag) || known.includes('*')
}

/** As this client takes it. */
export async function bodyFor(
  { headers }: IncomingMessage,
  file: KeptFile,
): Promise<{ body: Buffer; coding: Coding | null }> {
  const accepted = compressible.test(file.type) ? acceptedCoding(headers['accept-encoding']) : null
  const { builtCoding } = file
  const isReady = builtCoding && isAsWelcome(builtCoding, accepted, headers['accept-encoding'])
  const coding = isReady ? builtCoding : accepted
  if (coding === null) return { body: file.bytes, coding }
  const body = file.compressed.get(coding) ?? compressors[coding](file.bytes)
  file.compressed.set(coding, body)
  return { body: await body, coding }
}
