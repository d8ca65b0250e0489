import type { Unfit } from '../../sheets/change.ts'
import { type Handed, ownBuffer } from '../../sheets/threads/thread-jobs.ts'
import type { EditedFile, ToEdit } from './editing.ts'

type EditFunction = (
  bytes: Uint8Array,
  ...more: unknown[]
) => EditedFile | Unfit | Promise<EditedFile | Unfit>

/** The far side of `editing.ts`: bytes and changes in, new bytes out. */
export async function editBytes({ bytes, editor }: ToEdit): Promise<Handed<EditedFile | Unfit>> {
  const module = (await import(editor.module)) as Record<string, EditFunction | undefined>
  const edit = module[editor.name]
  if (!edit) throw new Error(`No editor ${editor.name}`)
  const outcome = await edit(bytes, ...editor.more)
  if ('changeAt' in outcome) return { reply: outcome, handOver: [] }
  const edited = { ...outcome, bytes: ownBuffer(outcome.bytes) }
  return { reply: edited, handOver: [edited.bytes.buffer] }
}
