import { invalidArgument } from '../google-error.ts'
import { type DeveloperMetadata, isObject, type Spreadsheet } from '../model.ts'
import { type Place, placeOfGridRange, resolveA1, sheetById } from '../resolve-range.ts'
import { matchesLookup } from '../spreadsheet/developer-metadata.ts'
import { wholeSheet } from '../spreadsheet/spreadsheet-json.ts'

/** All places a DataFilter stands for; metadata may point at several. */
export function placesOfFilter(spreadsheet: Spreadsheet, filter: unknown): Place[] {
  const given = isObject(filter) ? filter : {}
  if (typeof given.a1Range === 'string') return [resolveA1(spreadsheet, given.a1Range)]
  if (given.gridRange !== undefined) return [placeOfGridRange(spreadsheet, given.gridRange)]
  if (given.developerMetadataLookup === undefined) {
    throw invalidArgument(
      'A data filter must specify exactly one of: developerMetadataLookup, a1Range, gridRange.',
    )
  }
  return spreadsheet.metadata
    .filter((entry) => matchesLookup(spreadsheet, entry, given.developerMetadataLookup))
    .flatMap((entry) => placesOfMetadata(spreadsheet, entry))
}

function placesOfMetadata(spreadsheet: Spreadsheet, { place }: DeveloperMetadata): Place[] {
  if (place.kind === 'SPREADSHEET') return spreadsheet.sheets.map(wholeSheet)
  const whole = wholeSheet(sheetById(spreadsheet, place.sheetId))
  if (place.kind === 'SHEET') return [whole]
  const { startIndex, endIndex } = place
  const lines =
    place.kind === 'ROWS'
      ? { startRow: startIndex, endRow: endIndex }
      : { startColumn: startIndex, endColumn: endIndex }
  return [{ sheet: whole.sheet, area: { ...whole.area, ...lines } }]
}

/** Metadata a filter selects: by lookup, or by lying on the given cells. */
export function metadataOfFilter(spreadsheet: Spreadsheet, filter: unknown): DeveloperMetadata[] {
  const given = isObject(filter) ? filter : {}
  if (given.developerMetadataLookup !== undefined) {
    return spreadsheet.metadata.filter((entry) =>
      matchesLookup(spreadsheet, entry, given.developerMetadataLookup),
    )
  }
  const [place] = placesOfFilter(spreadsheet, filter)
  if (!place) return []
  const { sheet, area } = place
  return spreadsheet.metadata.filter(({ place: at }) => {
    if (at.kind === 'SPREADSHEET' || at.sheetId !== sheet.sheetId) return false
    if (at.kind === 'SHEET') return true
    const [start, end] =
      at.kind === 'ROWS' ? [area.startRow, area.endRow] : [area.startColumn, area.endColumn]
    return at.startIndex < end && start < at.endIndex
  })
}
