import type { Change, Unfit } from '../../sheets/change.ts'
import { allAtOnce, packSteps, unpackSteps } from '../../sheets/threads/packed-list.ts'
import { type Handed, ownBuffer } from '../../sheets/threads/thread-jobs.ts'
import { boundResults } from './bounded-results.ts'
import type { EditedFile, PackedEdit, ToEdit } from './editing.ts'

type EditFunction = (
  bytes: Uint8Array,
  ...more: unknown[]
) => EditedFile | Unfit | Promise<EditedFile | Unfit>

/** The far side of `editing.ts`: bytes and changes in, new bytes out. */
export async function editBytes({ bytes, editor, changes }: ToEdit): Promise<Handed<PackedEdit | Unfit>> {
  const module = (await import(editor.module)) as Record<string, EditFunction | undefined>
  const edit = module[editor.name]
  if (!edit) throw new Error(`No editor ${editor.name}`)
  const unpacked = allAtOnce(unpackSteps<Change>(changes))
  const outcome = await edit(bytes, ...editor.more.toSpliced(editor.changesAt, 0, unpacked))
  if ('changeAt' in outcome) return { reply: outcome, handOver: [] }
  const { header, ...file } = outcome
  const bounded = boundResults(outcome.results, unpacked, header)
  if ('changeAt' in bounded) return { reply: bounded, handOver: [] }
  const results = allAtOnce(packSteps(bounded))
  const edited = { ...file, bytes: ownBuffer(outcome.bytes), results }
  return { reply: edited, handOver: [edited.bytes.buffer, ...results.map(({ buffer }) => buffer)] }
}
