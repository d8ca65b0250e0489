import { Refusal } from '../../errors.ts'
import type { OperationToClaim } from '../../store/operations.ts'
import type { Store } from '../../store/store.ts'
import { readAnswer } from './journal-text.ts'
import { writeDeadlineMs } from './lane.ts'
import type { WriteAnswer } from './order.ts'

/** CONTRACT 3: the first answer is kept for so long. */
export const keepAnswersMs = 24 * 60 * 60 * 1_000

/** By then an order is answered: whoever claimed the key is dead, or never heard that it has it. */
const abandonedMs = 2 * writeDeadlineMs

/** `claimed`: the key is this request's alone, until it is answered or given back. */
export type Claim = { claimed: string } | { replay: WriteAnswer | Refusal } | Refusal

/** What an idempotency key means for a request that comes with it. */
export async function claimKey(
  store: Pick<Store, 'claimOperation' | 'dropOperations'>,
  asked: OperationToClaim,
): Promise<Claim> {
  const claim = await store.claimOperation(asked, keepAnswersMs)
  if ('claimed' in claim) return claim
  const { id, fingerprint, state, answer, ageMs } = claim.existing
  if (state === 'queued' && ageMs > abandonedMs) {
    await store.dropOperations([id])
    return claimKey(store, asked)
  }
  if (fingerprint !== asked.fingerprint) return new Refusal('idempotency_key_reused')
  const isFinished = state === 'applied' || state === 'refused'
  if (!isFinished || answer === null) return new Refusal('idempotency_in_progress', { retryAfterSeconds: 1 })
  const kept = readAnswer(answer)
  return { replay: kept instanceof Refusal ? kept : kept.answer }
}
