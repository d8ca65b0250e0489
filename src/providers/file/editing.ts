import { type Clock, systemClock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import { createLoopTurns, type LoopTurns } from '../../shares/loop-turns.ts'
import { defaultShares, type Shares } from '../../shares/shares.ts'
import type { Change, ChangeResult, Edited, Unfit } from '../../sheets/change.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import { type PackedList, packSteps, unpackSteps } from '../../sheets/threads/packed-list.ts'
import { ownBuffer, type ThreadJob } from '../../sheets/threads/thread-jobs.ts'
import { createThreadPool, type ThreadPool } from '../../sheets/threads/thread-pool.ts'
import { ThreadLost } from '../../sheets/threads/threads.ts'
import type { KnownFile } from './known-files.ts'

/** A function `(bytes, …more) → Edited | Unfit` by name, so that a thread can load it. */
export interface ThreadEditor {
  module: string
  name: string
  /** Without the changes, which come at this place among them. */
  more: readonly unknown[]
  changesAt: number
}

export interface EditedFile extends Edited {
  /** Row 1 as it is read. */
  header: readonly Cell[]
  /** What is known of it then, so that rows can be added without reading it again. */
  known?: KnownFile
}

export interface ToEdit {
  bytes: Uint8Array
  editor: ThreadEditor
  changes: PackedList
}

export type PackedEdit = Omit<EditedFile, 'results' | 'header'> & { results: PackedList }

/** Makes new bytes of a file's in a thread, for the same reasons as decoding. */
export interface Editing {
  /**
   * Does `work` in a turn of the account, among files of so many bytes: reading the file, editing it, writing the new one, so that
   * who waits holds nothing. Nobody is refused: of each spreadsheet, one batch at most is here, and what an account has waiting for all of
   * them was counted when it came (`editing_waiting`).
   */
  inTurn<T>(accountId: string, bytes: number, work: (edit: Edit) => Promise<T>): Promise<T>
}

/** `bytes` are handed over: whoever calls must not look at them again. */
export type Edit = (
  bytes: Uint8Array,
  editor: ThreadEditor,
  changes: readonly Change[],
) => Promise<Omit<EditedFile, 'header'> | Unfit>

export interface EditingParts {
  observe: Observe
  clock?: Pick<Clock, 'elapsedMs'>
  shares?: Pick<Shares, 'editing_at_once'>
  /** It has threads of its own unless given; those end with the process. */
  threads?: ThreadPool
  /** For what many changes take on the thread that answers everybody. */
  turns?: LoopTurns
}

const editJob: ThreadJob<ToEdit, PackedEdit | Unfit> = {
  module: new URL('./edit-job.ts', import.meta.url).href,
  name: 'editBytes',
}

export function createEditing({
  observe,
  clock = systemClock,
  shares = defaultShares,
  threads = createThreadPool({ clock, observe }),
  turns = createLoopTurns(clock),
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
        return await work(async (given, editor, changes) => {
          const bytes = ownBuffer(given)
          const packed = await inTurns(accountId, packSteps(changes))
          const handOver = [bytes.buffer, ...packed.map(({ buffer }) => buffer)]
          const { reply } = await turn
            .run(editJob, { bytes, editor, changes: packed }, handOver)
            .catch((cause: unknown) => {
              if (!(cause instanceof ThreadLost)) throw cause
              throw new ProviderFailure('the spreadsheet is too large or too complex to write to', { cause })
            })
          if ('changeAt' in reply) return reply
          return { ...reply, results: await inTurns(accountId, unpackSteps<ChangeResult>(reply.results)) }
        })
      } finally {
        turn.end()
      }
    },
  }

  async function inTurns<T>(accountId: string, steps: Generator<void, T>): Promise<T> {
    for (;;) {
      await turns.next(accountId)
      const step = steps.next()
      if (step.done) return step.value
    }
  }
}
