import { invalidArgument } from '../google-error.ts'
import {
  type DeveloperMetadata,
  type Dimension,
  isObject,
  type MetadataPlace,
  type Spreadsheet,
} from '../model.ts'
import { sheetById } from '../resolve-range.ts'

export function metadataJson(entry: DeveloperMetadata): Record<string, unknown> {
  return {
    metadataId: entry.metadataId,
    metadataKey: entry.metadataKey,
    ...(entry.metadataValue !== undefined && { metadataValue: entry.metadataValue }),
    location: locationJson(entry.place),
    visibility: entry.visibility,
  }
}

function locationJson(place: MetadataPlace): Record<string, unknown> {
  if (place.kind === 'SPREADSHEET') return { locationType: 'SPREADSHEET', spreadsheet: true }
  if (place.kind === 'SHEET') return { locationType: 'SHEET', sheetId: place.sheetId }
  const { sheetId, startIndex, endIndex } = place
  return {
    locationType: place.kind === 'ROWS' ? 'ROW' : 'COLUMN',
    dimensionRange: { sheetId, dimension: place.kind, startIndex, endIndex },
  }
}

/** An int32 on the wire: a larger number, such as half a hash, is refused by the parser. */
export function readMetadataId(given: unknown): number | undefined {
  if (given === undefined || given === null) return undefined
  const id = typeof given === 'string' && /^-?\d+$/.test(given) ? Number(given) : given
  if (typeof id !== 'number' || !Number.isInteger(id) || Math.abs(id) > 2_147_483_647) {
    throw invalidArgument(`Invalid value at 'metadata_id' (TYPE_INT32), ${JSON.stringify(given)}`)
  }
  if (id <= 0) throw invalidArgument('Developer metadata ID must be positive.')
  return id
}

const MAX_CHARACTERS = 30_000

/** Keys and values together, for the spreadsheet and for each sheet (the limit is what people report, the words are a guess). */
export function refuseTooMuchMetadata(spreadsheet: Spreadsheet, { place }: DeveloperMetadata): void {
  const sheetOf = (one: MetadataPlace) => (one.kind === 'SPREADSHEET' ? undefined : one.sheetId)
  const characters = spreadsheet.metadata
    .filter((entry) => sheetOf(entry.place) === sheetOf(place))
    .reduce((sum, entry) => sum + entry.metadataKey.length + (entry.metadataValue?.length ?? 0), 0)
  if (characters <= MAX_CHARACTERS) return
  throw invalidArgument(`Developer metadata exceeds the limit of ${MAX_CHARACTERS} characters.`)
}

export function readPlace(spreadsheet: Spreadsheet, location: unknown): MetadataPlace {
  const given = isObject(location) ? location : {}
  if (given.spreadsheet === true) return { kind: 'SPREADSHEET' }
  if (isObject(given.dimensionRange)) {
    const { dimension, startIndex, endIndex } = given.dimensionRange
    const sheet = sheetById(spreadsheet, given.dimensionRange.sheetId)
    if (dimension !== 'ROWS' && dimension !== 'COLUMNS') throw invalidArgument('dimension must be specified.')
    if (typeof startIndex !== 'number' || typeof endIndex !== 'number' || endIndex !== startIndex + 1) {
      throw invalidArgument('A location of a dimension range must be exactly one row or column.')
    }
    refuseOutside(dimension, endIndex, dimension === 'ROWS' ? sheet.rowCount : sheet.columnCount)
    return { kind: dimension, sheetId: sheet.sheetId, startIndex, endIndex }
  }
  if (given.sheetId !== undefined)
    return { kind: 'SHEET', sheetId: sheetById(spreadsheet, given.sheetId).sheetId }
  throw invalidArgument('Developer metadata must have a location.')
}

function refuseOutside(dimension: Dimension, endIndex: number, size: number): void {
  if (endIndex > size) {
    const word = dimension === 'ROWS' ? 'row' : 'column'
    throw invalidArgument(
      `Cannot associate metadata with ${word} ${endIndex - 1}: the sheet has only ${size}.`,
    )
  }
}

/** Whether an entry is what a DeveloperMetadataLookup asks for; everything given must match. */
export function matchesLookup(spreadsheet: Spreadsheet, entry: DeveloperMetadata, lookup: unknown): boolean {
  const asked = isObject(lookup) ? lookup : {}
  if (asked.metadataId !== undefined && readMetadataId(asked.metadataId) !== entry.metadataId) return false
  if (asked.metadataKey !== undefined && asked.metadataKey !== entry.metadataKey) return false
  if (asked.metadataValue !== undefined && asked.metadataValue !== entry.metadataValue) return false
  if (asked.visibility !== undefined && asked.visibility !== entry.visibility) return false
  const type = locationJson(entry.place).locationType
  if (asked.locationType !== undefined && asked.locationType !== type) return false
  if (asked.metadataLocation === undefined) return true
  const location = readPlace(spreadsheet, asked.metadataLocation)
  return asked.locationMatchingStrategy === 'EXACT_LOCATION'
    ? JSON.stringify(location) === JSON.stringify(entry.place)
    : intersects(location, entry.place)
}

function intersects(one: MetadataPlace, other: MetadataPlace): boolean {
  // "Spreadsheet metadata cannot intersect any other developer metadata location."
  if (one.kind === 'SPREADSHEET' || other.kind === 'SPREADSHEET') return one.kind === other.kind
  if (one.sheetId !== other.sheetId) return false
  if (one.kind === 'SHEET' || other.kind === 'SHEET' || one.kind !== other.kind) return true
  return one.startIndex < other.endIndex && other.startIndex < one.endIndex
}
