import { readFields } from '../cells/cell-fields.ts'
import { invalidArgument } from '../google-error.ts'
import type { DeveloperMetadata } from '../model.ts'
import {
  metadataJson,
  readMetadataId,
  readPlace,
  refuseTooMuchMetadata,
} from '../spreadsheet/developer-metadata.ts'
import { metadataOfFilter } from '../values/data-filter.ts'
import { objectIn, type RequestHandler } from './request.ts'

const VISIBILITIES = ['DOCUMENT', 'PROJECT']

export const metadataRequests: Record<string, RequestHandler> = {
  createDeveloperMetadata({ draft, newId }, request) {
    const given = objectIn(request, 'developerMetadata')
    if (typeof given.metadataKey !== 'string' || given.metadataKey === '') {
      throw invalidArgument('Developer metadata must have a key.')
    }
    if (typeof given.visibility !== 'string' || !VISIBILITIES.includes(given.visibility)) {
      throw invalidArgument('Developer metadata must have a visibility.')
    }
    const metadataId = readMetadataId(given.metadataId) ?? newId()
    if (draft.metadata.some((entry) => entry.metadataId === metadataId)) {
      // That ids must be distinct is documented, the words are a guess: recognise the refusal by more than its text.
      throw invalidArgument(`Developer metadata with ID ${metadataId} already exists.`)
    }
    const entry: DeveloperMetadata = {
      metadataId,
      metadataKey: given.metadataKey,
      ...(typeof given.metadataValue === 'string' && { metadataValue: given.metadataValue }),
      visibility: given.visibility,
      place: readPlace(draft, given.location),
    }
    draft.metadata.push(entry)
    refuseTooMuchMetadata(draft, entry)
    return { createDeveloperMetadata: { developerMetadata: metadataJson(entry) } }
  },

  updateDeveloperMetadata({ draft }, request) {
    const given = objectIn(request, 'developerMetadata')
    const mask = readFields(request.fields)
    const names = mask === 'all' ? Object.keys(given) : [...mask.keys()]
    const changed = matching(draft, request)
    for (const entry of changed) {
      if (names.includes('metadataKey')) entry.metadataKey = String(given.metadataKey ?? '')
      if (names.includes('metadataValue')) {
        if (typeof given.metadataValue === 'string') entry.metadataValue = given.metadataValue
        else delete entry.metadataValue
      }
      if (names.includes('visibility')) entry.visibility = String(given.visibility ?? entry.visibility)
      if (names.includes('location')) entry.place = readPlace(draft, given.location)
    }
    for (const entry of changed) refuseTooMuchMetadata(draft, entry)
    return { updateDeveloperMetadata: { developerMetadata: changed.map(metadataJson) } }
  },

  deleteDeveloperMetadata({ draft }, request) {
    const gone = metadataOfFilter(draft, request.dataFilter)
    draft.metadata = draft.metadata.filter((entry) => !gone.includes(entry))
    return {
      deleteDeveloperMetadata: gone.length > 0 ? { deletedDeveloperMetadata: gone.map(metadataJson) } : {},
    }
  },
}

function matching(
  draft: Parameters<typeof metadataOfFilter>[0],
  request: Record<string, unknown>,
): DeveloperMetadata[] {
  const filters = Array.isArray(request.dataFilters) ? request.dataFilters : []
  return [...new Set(filters.flatMap((filter) => metadataOfFilter(draft, filter)))]
}
