import { parentPort } from 'node:worker_threads'
import type { Edited, Unfit } from '../change.ts'
import { ProviderFailure } from '../provider-failure.ts'
import { ownBuffer } from '../threads.ts'
import type { EditJob } from './editing.ts'

/** The far side of `editing.ts`: bytes and changes in, new bytes out, one at a time. */
export type EditReply =
  | { outcome: Edited | Unfit }
  | { failure: string; cause: string }
  | { malfunction: string; stack: string }

type EditFunction = (bytes: Uint8Array, ...more: unknown[]) => Edited | Unfit | Promise<Edited | Unfit>

parentPort?.on('message', async ({ bytes, editor }: EditJob & { bytes: Uint8Array }) => {
  try {
    const module = (await import(editor.module)) as Record<string, EditFunction | undefined>
    const edit = module[editor.name]
    if (!edit) throw new Error(`No editor ${editor.name}`)
    const outcome = await edit(bytes, ...editor.more)
    if ('changeAt' in outcome) return reply({ outcome })
    const edited = { ...outcome, bytes: ownBuffer(outcome.bytes) }
    reply({ outcome: edited }, [edited.bytes.buffer])
  } catch (error) {
    if (error instanceof ProviderFailure) reply({ failure: error.message, cause: String(error.cause ?? '') })
    else reply({ malfunction: String(error), stack: (error instanceof Error && error.stack) || '' })
  }
})

function reply(message: EditReply, handOver: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, handOver)
}
