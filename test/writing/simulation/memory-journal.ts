import { StoreFailure } from '../../../src/errors.ts'
import type { LeaseStore } from '../../../src/store/leases/leases.ts'
import type {
  OperationOutcome,
  OperationRecord,
  OperationStore,
} from '../../../src/store/operations/operations.ts'
import type { SheetRecord } from '../../../src/store/sheets/sheets.ts'
import { createMemoryLeases } from './memory-leases.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What lanes ask of the store, in memory; `trouble` says of each call whether it fails, and whether it was done. */
export interface MemoryJournal {
  /** As one instance sees it. */
  of(instanceId: string): InstanceJournal
  /** That one was killed, as the next one on the same machine finds out at once. */
  endDead(instanceId: string): void
  operations: ReadonlyMap<string, Kept>
  writeSeq: number
}

export interface InstanceJournal
  extends OperationStore,
    Pick<LeaseStore, 'takeLease' | 'renewLease' | 'endLease' | 'stayAlive'> {
  sheetById(sheetId: string): Promise<SheetRecord | null>
  ping(): Promise<void>
}

type Kept = Omit<OperationRecord, 'ageMs'> & { createdAtMs: number; instanceId: string }

export type Trouble = () => 'none' | 'before' | 'after'

/** `isSlow`: whether something else, a crash for one, can happen before the answer is there. */
export function createMemoryJournal(
  sheet: SheetRecord,
  time: VirtualTime,
  trouble: Trouble,
  isSlow: () => boolean,
): MemoryJournal {
  const operations = new Map<string, Kept>()
  const leases = createMemoryLeases(time)
  const told = ({ createdAtMs, instanceId, ...kept }: Kept) => ({
    ...kept,
    ageMs: time.nowMs() - createdAtMs,
  })
  let lastId = 0
  const isOpen = ({ state }: Kept) => state === 'queued' || state === 'sending'

  async function step<T>(work: () => T): Promise<T> {
    const when = trouble()
    // At once: what a dying process asked for is done before the next one asks.
    const done = when === 'before' ? null : { result: work() }
    if (isSlow()) await time.delay(1)
    if (done === null || when === 'after') throw new StoreFailure('The store did not answer')
    return done.result
  }

  function finish(state: 'applied' | 'refused', outcomes: readonly OperationOutcome[]): void {
    for (const { id, answer } of outcomes) {
      const operation = operations.get(id)
      if (operation?.idempotencyKey === null) operations.delete(id)
      else if (operation && isOpen(operation))
        operations.set(id, { ...operation, state, answer: answer ?? operation.answer })
    }
  }

  const journal: MemoryJournal = {
    operations,
    writeSeq: 0,
    endDead: (instanceId) => leases.endAllOf(instanceId),
    of: (instanceId) => instanceJournal(instanceId),
  }
  return journal

  function instanceJournal(instanceId: string): InstanceJournal {
    const ours = leases.of(instanceId)
    const ofTheDead = (operation: Kept) =>
      isOpen(operation) && operation.instanceId !== instanceId && !leases.isAlive(operation.instanceId)
    return {
      takeLease: (...asked) => step(() => ours.takeLease(...asked)).then((taken) => taken),
      renewLease: (...asked) => step(() => ours.renewLease(...asked)).then((isOurs) => isOurs),
      endLease: (lease) => step(() => ours.endLease(lease)).then(() => {}),
      stayAlive: ours.stayAlive,
      async ping() {},
      async sheetById() {
        return { ...sheet, writeSeq: journal.writeSeq }
      },
      claimOperation: (asked) =>
        step(() => {
          const existing = [...operations.values()].find(
            ({ accountId, idempotencyKey }) =>
              accountId === asked.accountId && idempotencyKey === asked.idempotencyKey,
          )
          if (existing && !(existing.state === 'queued' && ofTheDead(existing))) {
            return { existing: told(existing) }
          }
          if (existing) operations.delete(existing.id)
          const { id } = asked
          const open = { fence: null, place: null, answer: null, createdAtMs: time.nowMs(), instanceId }
          operations.set(id, { ...asked, ...open, state: 'queued' })
          return { claimed: id }
        }),
      claimFreeKeys: (asked) =>
        step(() => {
          const claimed = new Set<string>()
          for (const each of asked) {
            const isHeld = [...operations.values()].some(
              ({ accountId, idempotencyKey }) =>
                accountId === each.accountId && idempotencyKey === each.idempotencyKey,
            )
            if (isHeld) continue
            const open = { fence: null, place: null, answer: null, createdAtMs: time.nowMs(), instanceId }
            operations.set(each.id, { ...each, ...open, state: 'queued' })
            claimed.add(each.id)
          }
          return claimed
        }),
      findKeyedOperation: (ofAccount, key) =>
        step(() => {
          const known = [...operations.values()].find(
            ({ accountId, idempotencyKey }) => accountId === ofAccount && idempotencyKey === key,
          )
          return known ? told(known) : null
        }),
      beginSending: ({ source, fence, place, lease, operations: sent }) =>
        step(() => {
          if (lease && !leases.isHeld(lease, instanceId)) throw new StoreFailure('The lane is in other hands')
          for (const { id } of sent) {
            const known = id === null ? null : operations.get(id)
            if (known === undefined || (known && !isOpen(known))) throw new StoreFailure(`${id} is not open`)
          }
          return sent.map(({ id, accountId, sheetId, answer }) => {
            const known = operations.get(id ?? '')
            const own = known ?? {
              id: `op_${++lastId}`,
              idempotencyKey: null,
              fingerprint: null,
              createdAtMs: time.nowMs(),
            }
            const to = { accountId, sheetId, source, fence, place, answer, instanceId }
            operations.set(own.id, { ...own, ...to, state: 'sending' })
            return own.id
          })
        }),
      finishApplied: (_source, outcomes) =>
        step(() => {
          finish('applied', outcomes)
          journal.writeSeq++
          return null
        }),
      finishRefused: (outcomes) => step(() => finish('refused', outcomes)),
      unsendOperations: (ids) =>
        step(() => {
          for (const id of ids) {
            const operation = operations.get(id)
            if (operation?.state === 'sending')
              operations.set(id, { ...operation, state: 'queued', fence: null, place: null })
          }
        }),
      dropOperations: (ids) =>
        step(() => {
          for (const id of ids) {
            const operation = operations.get(id)
            if (operation && isOpen(operation)) operations.delete(id)
          }
        }),
      unfinishedOperations: () =>
        step(() =>
          [...operations.values()]
            .filter(
              (operation) =>
                isOpen(operation) && (operation.instanceId === instanceId || ofTheDead(operation)),
            )
            .map(told),
        ),
      abandonedOperations: () => step(() => [...operations.values()].filter(ofTheDead).map(told)),
      freeAbandonedKeys: () =>
        step(() => {
          for (const operation of operations.values()) {
            if (operation.state === 'queued' && ofTheDead(operation)) operations.delete(operation.id)
          }
        }),
      sendingOperations: (source) =>
        step(() =>
          [...operations.values()]
            .filter((operation) => operation.source === source && operation.state === 'sending')
            .map(told),
        ),
      keptAnswers: async () => ({ bytes: 0, roomInMs: 0 }),
      forgetOldOperations: async () => 0,
    }
  }
}
