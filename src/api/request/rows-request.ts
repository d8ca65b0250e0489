import type { Admission } from '../../admission/admit.ts'
import type { AdmissionCall, Pass, SheetAddress } from '../../admission/judge.ts'
import type { FollowerPlaces } from '../../changes/follower-places.ts'
import type { Looking } from '../../changes/looking.ts'
import type { ReadingChanges } from '../../changes/reading-changes.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Compression } from '../../http/compression.ts'
import type { OwnAddress } from '../../http/own-address.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { LoopTurns } from '../../shares/loop-turns.ts'
import type { Viewing } from '../../sheets/reading/viewing.ts'
import type { Querying } from '../../sheets/rows/query/querying.ts'
import type { RowsView } from '../../sheets/rows/view/rows-view.ts'
import type { Writing } from '../../sheets/writing/writing.ts'
import { viewOf } from '../policy/key-view.ts'
import type { OpenStreams } from '../streams/open-streams.ts'
import { type Exchange, noteAdmission } from './exchange.ts'
import { presentedKeyHash } from './presented-key.ts'
import { type Parameters, parseParameters, readableParameters } from './query.ts'
import type { NamedInPath } from './routes.ts'

export interface ApiParts {
  changes: ReadingChanges
  followerPlaces: FollowerPlaces
  streams: OpenStreams
  looking: Pick<Looking, 'refresh'>
  admission: Admission
  reading: Viewing
  writing: Writing
  querying: Querying
  compression: Compression
  turns: LoopTurns
  clock: Clock
  observe: Observe
  ownAddress: OwnAddress
}

/** A request that found the rows of some sheet, or one of them, with nothing of it judged yet. */
export interface RowsRequest {
  exchange: Exchange
  address: SheetAddress
  rowText: string | null
  /** In place of a number. */
  named?: NamedInPath | undefined
  /** The write that is to be taken back. */
  undoneId?: string
}

export type AdmittedCall = Pass & {
  parameters: Parameters
  /** As it was admitted, for those who ask again later. */
  call: AdmissionCall
  /** What of the sheet the key may read. */
  view: RowsView | 'everything'
}

/** Shorter ones are taken apart in a tenth of a millisecond, whatever is in them. */
const longQueryCharacters = 1_000

/** The query may carry the key, so it is taken apart first; what is wrong with it is told only to those admitted. */
export async function admitRows(
  { exchange, address }: RowsRequest,
  { admission, turns }: ApiParts,
  wanted: Pick<AdmissionCall, 'intent' | 'pageRight'>,
): Promise<AdmittedCall | Refusal> {
  const { request, query, clientAddress } = exchange
  const parameters = parseParameters(query)
  const keyHash = presentedKeyHash(
    request,
    parameters instanceof Refusal ? readableParameters(query) : parameters,
  )
  const call: AdmissionCall = { address, keyHash, ...wanted, origin: request.headers.origin ?? null }
  const pass = noteAdmission(exchange, await admission.admit(call, clientAddress))
  if (pass instanceof Refusal) return pass
  if (parameters instanceof Refusal) return parameters
  // Some are refused for what they ask, and come to no turn after this one.
  const due = query !== null && query.length > longQueryCharacters ? turns.next(pass.taker) : undefined
  if (due) await due
  return { ...pass, parameters, call, view: viewOf(pass.key) }
}
