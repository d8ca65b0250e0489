import { type Clock, systemClock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import { defaultShares, type Shares } from '../../shares/shares.ts'
import type { Edited, Unfit } from '../../sheets/change.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import { ownBuffer, type ThreadJob } from '../../sheets/threads/thread-jobs.ts'
import { createThreadPool, type ThreadPool } from '../../sheets/threads/thread-pool.ts'
import { ThreadLost } from '../../sheets/threads/threads.ts'
import type { KnownFile } from './known-files.ts'

/** A function `(bytes, …more) → Edited | Unfit` by name, so that a thread can load it. */
export interface ThreadEditor {
  module: string
  name: string
  more: readonly unknown[]
}

export interface EditedFile extends Edited {
  /** What is known of it then, so that rows can be added without reading it again. */
  known?: KnownFile
}

export interface ToEdit {
  bytes: Uint8Array
  editor: ThreadEditor
}

/** Makes new bytes of a file's in a thread, for the same reasons as decoding. */
export interface Editing {
  /**
   * Does `work` in a turn of the account, among files of so many bytes: reading the file, editing it, writing the new one, so that
   * who waits holds nothing. Nobody is refused: of each spreadsheet, one batch at most is here.
   */
  inTurn<T>(accountId: string, bytes: number, work: (edit: Edit) => Promise<T>): Promise<T>
}

/** `bytes` are handed over: whoever calls must not look at them again. */
export type Edit = (bytes: Uint8Array, editor: ThreadEditor) => Promise<EditedFile | Unfit>

export interface EditingParts {
  observe: Observe
  clock?: Pick<Clock, 'elapsedMs'>
  shares?: Pick<Shares, 'editing_at_once'>
  /** It has threads of its own unless given; those end with the process. */
  threads?: ThreadPool
}

const editJob: ThreadJob<ToEdit, EditedFile | Unfit> = {
  module: new URL('./edit-job.ts', import.meta.url).href,
  name: 'editBytes',
}

export function createEditing({
  observe,
  clock = systemClock,
  shares = defaultShares,
  threads = createThreadPool({ clock, observe }),
}: EditingParts): Editing {
  const door = threads.openDoor({
    share: 'editing_at_once',
    placesOfAccount: shares.editing_at_once,
    waitingOfAccount: Number.POSITIVE_INFINITY,
  })

  return {
    async inTurn(accountId, bytes, work) {
      const turn = door.turnOf(accountId)
      try {
        await turn.begin(bytes)
        return await work(async (given, editor) => {
          const bytes = ownBuffer(given)
          const { reply } = await turn
            .run(editJob, { bytes, editor }, [bytes.buffer])
            .catch((cause: unknown) => {
              if (!(cause instanceof ThreadLost)) throw cause
              throw new ProviderFailure('the spreadsheet is too large or too complex to write to', { cause })
            })
          return reply
        })
      } finally {
        turn.end()
      }
    },
  }
}
