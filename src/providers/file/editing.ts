import { type Clock, systemClock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import { defaultShares, type Shares } from '../../shares/shares.ts'
import { createTurnstile } from '../../shares/turnstile.ts'
import type { Edited, Unfit } from '../../sheets/change.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import { createThreads, ownBuffer, ThreadLost, threadCount } from '../../sheets/threads/threads.ts'

/** A function `(bytes, …more) → Edited | Unfit` by name, so that a thread can load it. */
export interface Editor {
  module: string
  name: string
  more: readonly unknown[]
}

export interface EditJob {
  bytes: Uint8Array
  editor: Editor
}

/** Makes new bytes of a file's on threads of their own, for the same reasons as decoding. */
export interface Editing {
  /**
   * Does `work` in a turn of the account: reading the file, editing it, writing the new one, so that who waits holds nothing.
   * Nobody is refused: of each spreadsheet, one batch at most is here.
   */
  inTurn<T>(accountId: string, work: () => Promise<T>): Promise<T>
  /** `bytes` are handed over: whoever calls must not look at them again. */
  edit(bytes: Uint8Array, editor: Editor): Promise<Edited | Unfit>
}

export interface EditingParts {
  observe: Observe
  clock?: Pick<Clock, 'elapsedMs'>
  shares?: Pick<Shares, 'editing_at_once'>
}

/** Its threads are started when first needed, and end with the process. */
export function createEditing({
  observe,
  clock = systemClock,
  shares = defaultShares,
}: EditingParts): Editing {
  const threads = createThreads<EditJob, Edited | Unfit>(new URL('./editing-worker.ts', import.meta.url))
  const turnstile = createTurnstile({
    share: 'editing_at_once',
    places: threadCount,
    placesOfAccount: shares.editing_at_once,
    waitingOfAccount: Number.POSITIVE_INFINITY,
    clock,
    observe,
  })

  return {
    inTurn: (accountId, work) => turnstile.pass(accountId, work),
    async edit(given, editor) {
      const bytes = ownBuffer(given)
      const { reply } = await threads.run({ bytes, editor }, [bytes.buffer]).catch((cause: unknown) => {
        if (!(cause instanceof ThreadLost)) throw cause
        throw new ProviderFailure('the spreadsheet is too large or too complex to write to', { cause })
      })
      return reply
    },
  }
}
