import type { TabPlace } from '../../../sheets/provider.ts'
import { OutcomeUnknown, ProviderFailure } from '../../../sheets/provider-failure.ts'
import { fieldsOf, listOf } from '../../remote/json-fields.ts'
import type { GoogleCalls } from '../client/google-call.ts'
import type { GoogleEndpoints } from '../client/google-endpoints.ts'
import { RefusedByGoogle } from '../client/google-errors.ts'
import { parseGoogleLocation } from '../google-location.ts'
import type { GoogleLooking } from '../read/google-looking.ts'
import { createMarkerRequest, type Marker } from './marker.ts'

export interface SettlingParts {
  calls: GoogleCalls
  endpoints: GoogleEndpoints
  looking: GoogleLooking
}

/**
 * Leaves the marker of a batch without the batch. If Google takes it, the batch was not applied and never can be.
 * If not, it is there already, and its text tells who left it: the batch, or one of us who settled before.
 */
export async function settleMarker(
  place: TabPlace,
  marker: Marker,
  { calls, endpoints, looking }: SettlingParts,
): Promise<'applied' | 'void'> {
  const { spreadsheetId } = parseGoogleLocation(place.location)
  try {
    const answer = await calls.callWrite({
      credentialId: place.credentialId,
      accountId: place.accountId,
      service: 'sheets',
      method: 'POST',
      url: `${endpoints.sheets}/${encodeURIComponent(spreadsheetId)}:batchUpdate?prettyPrint=false`,
      body: { requests: [createMarkerRequest(marker, 'void')] },
    })
    if (acknowledges(answer, marker)) return 'void'
    throw notUnderstood()
  } catch (error) {
    if (!(error instanceof RefusedByGoogle)) throw error
    switch (await looking.findMarker(place, marker)) {
      case 'done':
        return 'applied'
      case 'void':
      case 'foreign':
        // With the id taken by someone else, the batch was refused, and will be should it still come.
        return 'void'
      case 'absent':
        throw new ProviderFailure('Google refuses to tell what became of a write', {
          isPassing: true,
          cause: error,
        })
    }
  }
}

/** The answer may be a true one and yet not one that we understand: then the marker must tell. */
export function acknowledges(answer: unknown, { id }: Marker): boolean {
  return listOf(fieldsOf(answer).replies).some((reply) => {
    const { developerMetadata } = fieldsOf(fieldsOf(reply).createDeveloperMetadata)
    return fieldsOf(developerMetadata).metadataId === id
  })
}

export function notUnderstood(cause?: unknown): OutcomeUnknown {
  return new OutcomeUnknown("Google's response could not be read", { isPassing: true, cause })
}
