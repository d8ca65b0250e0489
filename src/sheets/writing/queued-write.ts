import { Refusal } from '../../errors.ts'
import { OutcomeUnknown } from '../provider-failure.ts'
import type { WriteAnswer, WriteOrder } from './order.ts'

/** An order on its way, from its arrival to its answer. The first answer is the one that counts. */
export class QueuedWrite {
  readonly order: WriteOrder
  readonly answered: Promise<WriteAnswer | Refusal>
  /** Set before the journal hears of it: from then on nobody can say by the clock alone that nothing was done. */
  isSending = false
  #isOpen = true
  readonly #resolve: (outcome: WriteAnswer | Refusal) => void
  readonly #reject: (error: unknown) => void

  constructor(order: WriteOrder) {
    const { promise, resolve, reject } = Promise.withResolvers<WriteAnswer | Refusal>()
    this.order = order
    this.answered = promise
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Whether its client is still to be answered. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  answer(outcome: WriteAnswer | Refusal): void {
    if (this.#close()) this.#resolve(outcome)
  }

  fail(error: unknown): void {
    if (this.#close()) this.#reject(error)
  }

  /** Its time is up. What was not sent never will be, and `free` gives its key back before the client is told. */
  expire(free: () => Promise<unknown>): void {
    if (this.isSending) this.fail(outcomeUnknown(this.order))
    else if (this.#close()) void free().finally(() => this.#resolve(tooLate()))
  }

  #close(): boolean {
    const wasOpen = this.#isOpen
    this.#isOpen = false
    return wasOpen
  }
}

/** The answer says so, and what to do about it (docs/contract.md#order-and-outcome). */
export function outcomeUnknown({ claim }: Pick<WriteOrder, 'claim'>, cause?: unknown): OutcomeUnknown {
  const advice =
    claim === null
      ? 'Read the sheet before you try again; with an Idempotency-Key, a retry would be safe.'
      : 'It is being found out; retry with the same Idempotency-Key, and it is not done twice.'
  return new OutcomeUnknown('no response came in time', {
    details: `The outcome at the spreadsheet is unknown. ${advice}`,
    isPassing: true,
    retryAfterSeconds: 1,
    cause,
  })
}

function tooLate(): Refusal {
  const details = 'The spreadsheet is busy or slow to respond; nothing was written.'
  return new Refusal('service_unavailable', { details, retryAfterSeconds: 1 })
}
