import { StoreFailure } from '../../../src/errors.ts'
import type { OperationRecord, OperationStore } from '../../../src/store/operations.ts'
import type { SheetRecord } from '../../../src/store/store.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What the lane asks of the store, in memory; `trouble` says of each call whether it fails, and whether it was done. */
export interface MemoryJournal
  extends Omit<OperationStore, 'abandonedOperations' | 'freeAbandonedKeys' | 'sendingOperations'> {
  sheetById(sheetId: string): Promise<SheetRecord | null>
  operations: ReadonlyMap<string, Kept>
  writeSeq: number
}

type Kept = Omit<OperationRecord, 'ageMs'> & { createdAtMs: number }

export type Trouble = () => 'none' | 'before' | 'after'

/** `isSlow`: whether something else, a crash for one, can happen before the answer is there. */
export function createMemoryJournal(
  sheet: SheetRecord,
  time: VirtualTime,
  trouble: Trouble,
  isSlow: () => boolean,
): MemoryJournal {
  const operations = new Map<string, Kept>()
  const told = ({ createdAtMs, ...kept }: Kept) => ({ ...kept, ageMs: time.nowMs() - createdAtMs })
  let lastId = 0
  const isOpen = ({ state }: Kept) => state === 'queued' || state === 'sending'

  async function step<T>(work: () => T): Promise<T> {
    const when = trouble()
    // At once: what a dying process asked for is done before the next one asks.
    const result = when === 'before' ? null : work()
    if (isSlow()) await time.delay(1)
    if (result === null || when === 'after') throw new StoreFailure('The store did not answer')
    return result
  }

  function finish(state: 'applied' | 'refused', outcomes: readonly { id: string; answer: string }[]): void {
    for (const { id, answer } of outcomes) {
      const operation = operations.get(id)
      if (operation?.idempotencyKey === null) operations.delete(id)
      else if (operation && isOpen(operation)) operations.set(id, { ...operation, state, answer })
    }
  }

  const journal: MemoryJournal = {
    operations,
    writeSeq: 0,
    async sheetById() {
      return { ...sheet, writeSeq: journal.writeSeq }
    },
    claimOperation: (asked) =>
      step(() => {
        const existing = [...operations.values()].find(
          ({ accountId, idempotencyKey }) =>
            accountId === asked.accountId && idempotencyKey === asked.idempotencyKey,
        )
        if (existing) return { existing: told(existing) }
        const id = `op_${++lastId}`
        const open = { fence: null, place: null, answer: null, createdAtMs: time.nowMs() }
        operations.set(id, { ...asked, ...open, id, state: 'queued' })
        return { claimed: id }
      }),
    beginSending: ({ source, fence, place, operations: sent }) =>
      step(() => {
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
          operations.set(own.id, {
            ...own,
            accountId,
            sheetId,
            source,
            state: 'sending',
            fence,
            place,
            answer,
          })
          return own.id
        })
      }),
    finishApplied: (_source, outcomes) =>
      step(() => {
        finish('applied', outcomes)
        journal.writeSeq++
      }),
    finishRefused: (outcomes) => step(() => finish('refused', outcomes)),
    dropOperations: (ids) =>
      step(() => {
        for (const id of ids) {
          const operation = operations.get(id)
          if (operation && isOpen(operation)) operations.delete(id)
        }
      }),
    unfinishedOperations: () => step(() => [...operations.values()].filter(isOpen).map(told)),
    forgetOldOperations: async () => 0,
  }
  return journal
}
