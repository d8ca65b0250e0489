import { invalidArgument } from './google-error.ts'
import {
  type DeveloperMetadata,
  type Dimension,
  isObject,
  type MetadataPlace,
  type Spreadsheet,
} from './model.ts'
import { sheetById } from './resolve-range.ts'

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
  if (asked.metadataId !== undefined && asked.metadataId !== entry.metadataId) return false
  if (asked.metadataKey !== undefined && asked.metadataKey !== entry.metadataKey) return false
  if (asked.metadataValue !== undefined && asked.metadataValue !== entry.metadataValue) return false
  if (asked.visibility !== undefined && asked.visibility !== entry.visibility) return false
  const type = locationJson(entry.place).locationType
  if (asked.locationType !== undefined && asked.locationType !== type) return false
  if (asked.metadataLocation === undefined) return true
  const location = readPlace(spreadsheet, asked.metadataLocation)
  return asked.locationMatchingStrategy === 'INTERSECTING_LOCATION'
    ? intersects(location, entry.place)
    : JSON.stringify(location) === JSON.stringify(entry.place)
}

function intersects(one: MetadataPlace, other: MetadataPlace): boolean {
  if (one.kind === 'SPREADSHEET' || other.kind === 'SPREADSHEET') return true
  if (one.sheetId !== other.sheetId) return false
  if (one.kind === 'SHEET' || other.kind === 'SHEET' || one.kind !== other.kind) return true
  return one.startIndex < other.endIndex && other.startIndex < one.endIndex
}
