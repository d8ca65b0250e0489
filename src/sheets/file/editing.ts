import type { Edited, Unfit } from '../change.ts'
import { ProviderFailure } from '../provider-failure.ts'
import { createThreads, ThreadLost } from '../threads.ts'

/** A function `(bytes, …more) → Edited | Unfit` by name, so that a thread can load it. */
export interface Editor {
  module: string
  name: string
  more: readonly unknown[]
}

export interface EditJob {
  editor: Editor
}

/** Makes new bytes of a file's on threads of their own, for the same reasons as decoding. */
export interface Editing {
  /** `bytes` are handed over: whoever calls must not look at them again. */
  edit(bytes: Uint8Array, editor: Editor): Promise<Edited | Unfit>
}

/** Its threads are started when first needed, and end with the process. */
export function createEditing(): Editing {
  const threads = createThreads<EditJob, Edited | Unfit>(new URL('./editing-worker.ts', import.meta.url))

  return {
    async edit(bytes, editor) {
      const { reply } = await threads.run({ bytes, editor }).catch((cause: unknown) => {
        if (!(cause instanceof ThreadLost)) throw cause
        throw new ProviderFailure('the spreadsheet is too large or too complex to write to', { cause })
      })
      return reply
    },
  }
}
