import { hash } from 'node:crypto'
import type { Fetched } from '../../../sheets/provider.ts'
import type { GoogleDecodeOptions } from './google-decode.ts'
import { headerValues } from './tab-memory.ts'
import type { SeenCell } from './tab-view.ts'

const prefix = 'header.'

/** Row 1 in the form of a read of the whole tab, for the same decoder. */
export function fetchedHeader(header: readonly SeenCell[]): Fetched {
  const values = [headerValues(header).map((value) => value ?? '')]
  const body = { valueRanges: [{ valueRange: { range: 'header', values } }] }
  const options: GoogleDecodeOptions = { values: 'typed', dates: new Uint32Array() }
  return {
    bytes: Buffer.from(new TextEncoder().encode(JSON.stringify(body)).buffer),
    version: headerVersion(header),
    decoder: {
      module: new URL('./google-decode.ts', import.meta.url).href,
      name: 'decodeGoogleValues',
      options,
    },
  }
}

function headerVersion(header: readonly SeenCell[]): string {
  return prefix + hash('sha256', JSON.stringify(headerValues(header)), 'base64url').slice(0, 22)
}
