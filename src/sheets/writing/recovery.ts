import { Refusal } from '../../errors.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { LoopTurns } from '../../shares/loop-turns.ts'
import type { OperationOutcome, OperationRecord } from '../../store/operations/operations.ts'
import type { Store } from '../../store/store.ts'
import type { Provider } from '../provider.ts'
import { ProviderFailure } from '../provider-failure.ts'
import type { Reading } from '../reading/reading.ts'
import type { Snapshot } from '../rows/snapshot.ts'
import { withFoundNumbers } from './finding-rows.ts'
import type { JournalStore } from './journal.ts'
import { answerText, type JournalPlace, readAnswer, readPlace } from './journal-text.ts'
import type { Persistence } from './persistence.ts'
import { createTakerTurns, type TakerTurns } from './taker-turns.ts'

/** Has its turn taken once, unless it is busy and takes it anyway. */
type VisitLane = (source: string, provider: string) => void

export interface RecoveryParts {
  store: JournalStore & Pick<Store, 'sendingOperations' | 'sheetById'>
  providers: ReadonlyMap<string, Provider>
  reading: Reading
  persistence: Persistence
  observe: Observe
  turns: LoopTurns
}

/**
 * What instances left that are gone. Nothing that was queued was sent, so its keys are free. What was being sent may have
 * been done or not: whoever takes the lane of its spreadsheet settles that (`settleOpen`), so it is enough to go there.
 */
export async function takeOver(
  store: Pick<Store, 'abandonedOperations' | 'freeAbandonedKeys'>,
  visitLane: VisitLane,
): Promise<void> {
  const abandoned = await store.abandonedOperations()
  if (abandoned.some(({ fence }) => fence === null)) await store.freeAbandonedKeys()
  visitLanesOf(abandoned, visitLane)
}

/**
 * Picks up what this instance lost sight of, because the store was away when its end was to be noted. Nobody works on an
 * operation for as long as `openForMs`.
 */
export async function pickUpForgotten(
  store: Pick<Store, 'unfinishedOperations' | 'dropOperations'>,
  openForMs: number,
  visitLane: VisitLane,
): Promise<void> {
  const forgotten = (await store.unfinishedOperations()).filter(({ ageMs }) => ageMs > openForMs)
  const unsent = forgotten.filter(({ fence }) => fence === null).map(({ id }) => id)
  if (unsent.length > 0) await store.dropOperations(unsent)
  visitLanesOf(forgotten, visitLane)
}

function visitLanesOf(operations: readonly OperationRecord[], visitLane: VisitLane): void {
  for (const { source, place } of operations) {
    if (place !== null) visitLane(source, readPlace(place).provider)
  }
}

/**
 * For whoever has a lane alone, before the first work there: nobody is sending, so what the journal says is being sent
 * was left by an instance that died, or that lost the lane.
 */
export async function settleOpen(source: string, parts: RecoveryParts): Promise<void> {
  const { store, persistence } = parts
  const open = await persistence.until(() => store.sendingOperations(source))
  for (const [fence, operations] of Map.groupBy(open, (operation) => operation.fence ?? '')) {
    const place = readPlace(operations[0]?.place ?? '{}')
    await settle({ source, fence, place, operations }, parts)
  }
}

interface Unsettled {
  source: string
  fence: string
  place: JournalPlace
  operations: readonly OperationRecord[]
}

async function settle({ source, fence, place, operations }: Unsettled, parts: RecoveryParts): Promise<void> {
  const { store, persistence, providers, observe } = parts
  const fate = await persistence.until(async () => {
    const provider = providers.get(place.provider)
    if (!provider) throw new ProviderFailure('the provider of the sheet is no longer set up')
    return provider.settle(place, fence)
  }, report)
  if (fate === 'void') {
    const ids = operations.map(({ id }) => id)
    return persistence.until(() => store.dropOperations(ids))
  }
  const snapshots = new Map<string, Promise<Snapshot>>()
  const outcomes = await Promise.all(
    operations.map((operation) =>
      outcomeOf(operation, createTakerTurns(operation.accountId, parts.turns), () =>
        snapshotOf(operation.sheetId),
      ),
    ),
  )
  // All that were sent together are of one sheet. Where row numbers were a guess, the next look tells.
  const changes = { sheetId: operations[0]?.sheetId ?? '', outcome: 'as_begun' } as const
  await persistence.until(() => store.finishApplied(source, outcomes, changes))

  /** One look after the fate was known is enough for all of them. */
  function snapshotOf(sheetId: string): Promise<Snapshot> {
    const known = snapshots.get(sheetId)
    if (known) return known
    const read = persistence.until(async () => {
      const record = await store.sheetById(sheetId)
      if (!record) throw new ProviderFailure('the sheet is no longer connected')
      return (await parts.reading.readForWriting(record)).snapshot
    })
    snapshots.set(sheetId, read)
    return read
  }

  function report(cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const sheetId = operations[0]?.sheetId ?? ''
    observe({ event: 'provider_failed', sheetId, provider: place.provider, action: 'write', reason, cause })
  }
}

/** What the client is told when it asks again; nobody asks for an operation without a key. */
async function outcomeOf(
  { id, answer: text }: OperationRecord,
  inTurns: TakerTurns,
  readRows: () => Promise<Snapshot>,
): Promise<OperationOutcome> {
  const kept = text ? await inTurns(readAnswer(text)) : null
  if (!kept || kept instanceof Refusal || kept.isExact) return { id, answer: null }
  const found = withFoundNumbers(kept.answer, await readRows(), kept.expectedLastRow ?? null)
  return { id, answer: await inTurns(answerText(found)) }
}
