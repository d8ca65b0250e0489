import type { Edited, Unfit } from '../../sheets/change.ts'
import { type Handed, ownBuffer } from '../../sheets/threads/thread-jobs.ts'
import type { ToEdit } from './editing.ts'

type EditFunction = (bytes: Uint8Array, ...more: unknown[]) => Edited | Unfit | Promise<Edited | Unfit>

/** The far side of `editing.ts`: bytes and changes in, new bytes out. */
export async function editBytes({ bytes, editor }: ToEdit): Promise<Handed<Edited | Unfit>> {
  const module = (await import(editor.module)) as Record<string, EditFunction | undefined>
  const edit = module[editor.name]
  if (!edit) throw new Error(`No editor ${editor.name}`)
  const outcome = await edit(bytes, ...editor.more)
  if ('changeAt' in outcome) return { reply: outcome, handOver: [] }
  const edited = { ...outcome, bytes: ownBuffer(outcome.bytes) }
  return { reply: edited, handOver: [edited.bytes.buffer] }
}
