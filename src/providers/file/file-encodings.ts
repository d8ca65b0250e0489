import type { EncodingChoice } from '../../sheets/provider-kind.ts'
import {
  isSingleByteEncoding,
  singleByteEncodings,
  standardEncodingName,
} from './csv/encoding/single-byte.ts'
import { type FileLocation, kindOf, parseFileLocation } from './file-location.ts'

/** What a CSV file can be said to be in. Workbooks say it themselves. */
export const fileEncodings: EncodingChoice = {
  names: singleByteEncodings,
  named(label) {
    const name = standardEncodingName(label) ?? label
    // Told by its bytes, whatever else is said of the file.
    if (name === 'utf-8') return null
    return isSingleByteEncoding(name) ? name : undefined
  },
  of(location) {
    const { path, encoding = null } = parseFileLocation(location)
    return kindOf(path) === 'csv' ? encoding : undefined
  },
  at(location, name) {
    const { encoding: _former, ...place } = parseFileLocation(location)
    const chosen: FileLocation =
      name !== null && isSingleByteEncoding(name) ? { ...place, encoding: name } : place
    return JSON.stringify(chosen)
  },
}
