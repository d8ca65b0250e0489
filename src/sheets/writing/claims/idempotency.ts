import type { Clock } from '../../../clock.ts'
import { Refusal } from '../../../errors.ts'
import type { Observe } from '../../../reporting/observe.ts'
import type { LoopTurns } from '../../../shares/loop-turns.ts'
import type { Taker } from '../../../shares/taker.ts'
import type { Turnstile } from '../../../shares/turnstile.ts'
import {
  keptRowBytes,
  type OperationToClaim,
  type StoredClaim,
} from '../../../store/operations/operations.ts'
import type { Store } from '../../../store/store.ts'
import { readAnswer } from '../journal-text.ts'
import { writeDeadlineMs } from '../lane.ts'
import { takerOfOrder, type WriteAnswer } from '../order.ts'
import { createTakerTurns } from '../taker-turns.ts'
import { type ClaimsTogether, claimPatienceMs } from './claims-together.ts'

/** The first answer is kept for so long (docs/contract.md#idempotency-keys). */
export const keepAnswersMs = 24 * 60 * 60 * 1_000

/** By then an order is answered: whoever claimed the key is dead, or never heard that it has it. */
const abandonedMs = 2 * writeDeadlineMs

/** `claimed`: the key is this request's alone, until it is answered or given back; `waitedMs`: how long that took. */
export type KeyClaim = { claimed: string; waitedMs: number } | { replay: Replay } | Refusal

/**
 * Has `tell` make of the first answer what is told. A long one is unpacked when its turn comes, one of an account and few of all at a time, and
 * its turn is over when `tell` is: until then it is in memory several times. Throws `TooManyAtOnce`.
 */
export type Replay = <Told>(tell: (answer: WriteAnswer | Refusal) => Promise<Told>) => Promise<Told>

export interface ClaimParts {
  store: Pick<
    Store,
    'claimOperation' | 'claimFreeKeys' | 'dropOperations' | 'findKeyedOperation' | 'keptAnswers'
  >
  /** What one account may keep of answers. */
  maxKeptBytes: number
  observe: Observe
  turns: LoopTurns
  /** What was packed takes a hundred times its room: few are unpacked at a time. */
  unpacking: Pick<Turnstile, 'pass'>
  /** The store has few connections for everybody: accounts take turns. */
  claiming: Pick<Turnstile, 'turnOf'>
  together: ClaimsTogether
  clock: Pick<Clock, 'elapsedMs'>
  isForVisitors: boolean
}

/** What answers to visitors leave of the room, so that the account's keys find some whatever visitors send. */
export function bytesLeftToKeys(maxKeptBytes: number, isForVisitors = false): number {
  return isForVisitors && Number.isFinite(maxKeptBytes) ? maxKeptBytes / 4 : 0
}

/** Packed. */
const longAnswerCharacters = 16 * 1_024

/**
 * What an idempotency key means for a request that comes with it. An account that keeps as many answers as it may gets those
 * that it has, and no further key: what was promised is kept, and nothing is promised that could not be.
 */
export async function claimKey(parts: ClaimParts, asked: OperationToClaim): Promise<KeyClaim> {
  const { store, clock, isForVisitors } = parts
  const begunMs = clock.elapsedMs()
  const taker = takerOfOrder({ ...asked, isForVisitors })
  const claim = await parts.together.claim(taker, asked, {
    claimFree: (all) => claimFreeInStore(parts, all),
    claimHeld: () => claimInStore(parts, asked),
  })
  if (claim instanceof Refusal) return claim
  if ('claimed' in claim) return { ...claim, waitedMs: clock.elapsedMs() - begunMs }
  const { id, fingerprint, state, answer, ageMs } = claim.existing
  if (state === 'queued' && ageMs > abandonedMs) {
    await store.dropOperations([id])
    return claimKey(parts, asked)
  }
  if (fingerprint !== asked.fingerprint) return new Refusal('idempotency_key_reused')
  const isFinished = state === 'applied' || state === 'refused'
  if (!isFinished || answer === null) return new Refusal('idempotency_in_progress', { retryAfterSeconds: 1 })
  const answerOf = async (text: string) => {
    const kept = await createTakerTurns(taker, parts.turns)(readAnswer(text))
    return kept instanceof Refusal ? kept : kept.answer
  }
  if (answer.length <= longAnswerCharacters) {
    const kept = await answerOf(answer)
    return { replay: (tell) => tell(kept) }
  }
  return { replay: (tell) => parts.unpacking.pass(taker, async () => tell(await longAnswerOf(answerOf))) }

  /** Read again, so that those who wait for a turn do not hold it. */
  async function longAnswerOf(read: (text: string) => Promise<WriteAnswer | Refusal>) {
    const { accountId, idempotencyKey } = asked
    const kept = await inJournalTurn(parts, taker, () =>
      store.findKeyedOperation(accountId, idempotencyKey, keepAnswersMs),
    )
    return kept?.id === id && kept.answer !== null
      ? read(kept.answer)
      : new Refusal('idempotency_in_progress', { retryAfterSeconds: 1 })
  }
}

async function claimInStore(parts: ClaimParts, asked: OperationToClaim): Promise<StoredClaim | Refusal> {
  const claim = await parts.store.claimOperation(asked, keepAnswersMs)
  if (!('claimed' in claim)) return claim
  return (await refusalWithoutRoom(parts, asked.accountId, [claim.claimed])) ?? claim
}

/** All of one account. */
async function claimFreeInStore(
  parts: ClaimParts,
  asked: readonly OperationToClaim[],
): Promise<ReadonlyMap<string, StoredClaim | Refusal>> {
  const claimed = [...(await parts.store.claimFreeKeys(asked))]
  const [first] = asked
  const refusal =
    first && claimed.length > 0 ? await refusalWithoutRoom(parts, first.accountId, claimed) : null
  return new Map(claimed.map((id) => [id, refusal ?? { claimed: id }]))
}

async function refusalWithoutRoom(
  { store, maxKeptBytes, observe, isForVisitors }: ClaimParts,
  accountId: string,
  claimed: readonly string[],
): Promise<Refusal | null> {
  const { bytes, roomInMs } = await store.keptAnswers(accountId, keepAnswersMs)
  if (bytes + keptRowBytes + bytesLeftToKeys(maxKeptBytes, isForVisitors) <= maxKeptBytes) return null
  await store.dropOperations(claimed)
  return noRoomForAnswer(accountId, roomInMs, observe)
}

/** A write that a key stands for. */
export interface KeyedWrite {
  state: 'open' | 'done' | 'refused'
  /** Since the key was claimed. */
  ageMs: number
}

type FindingParts = Pick<ClaimParts, 'claiming' | 'isForVisitors'> & {
  store: Pick<Store, 'findKeyedOperation'>
}

export async function findKeyed(
  { store, claiming, isForVisitors }: FindingParts,
  accountId: string,
  idempotencyKey: string,
): Promise<KeyedWrite | null> {
  const found = await inJournalTurn({ claiming }, takerOfOrder({ accountId, isForVisitors }), () =>
    store.findKeyedOperation(accountId, idempotencyKey, keepAnswersMs),
  )
  if (!found) return null
  const { state, ageMs } = found
  if (state === 'queued' && ageMs > abandonedMs) return null
  return { state: state === 'applied' ? 'done' : state === 'refused' ? 'refused' : 'open', ageMs }
}

async function inJournalTurn<T>(
  { claiming }: Pick<ClaimParts, 'claiming'>,
  taker: Taker,
  work: () => Promise<T>,
): Promise<T> {
  const turn = claiming.turnOf(taker)
  await turn.begin(claimPatienceMs)
  return work().finally(turn.end)
}

/** The refusal of a write with a key, of which nothing was done. */
export function noRoomForAnswer(accountId: string, roomInMs: number, observe: Observe): Refusal {
  observe({ event: 'share_used_up', share: 'journal_mb', accountId })
  const retryAfterSeconds = Math.max(1, Math.ceil(roomInMs / 1_000))
  return new Refusal('too_many_at_once', {
    fill: { seconds: String(retryAfterSeconds) },
    details:
      'This account keeps as many responses for Idempotency-Keys as it can (its share journal_mb). Nothing was written; without an Idempotency-Key it would be.',
    retryAfterSeconds,
  })
}

/** The refusal of a write with a key, of which nothing was done and nothing would be the next time. */
export const answerTooLong = new Refusal('payload_too_large', {
  details:
    'The response is too long to be kept for an Idempotency-Key: it may have 4 MiB, compressed. Nothing was written. Choose fewer rows at a time.',
})
