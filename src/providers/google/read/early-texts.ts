import type { Deadline } from '../../remote/deadline.ts'
import type { Columns } from './column-ranges.ts'

/** The second read of a tab, asked for while the first is still coming. */
export interface EarlyTexts<Read> {
  begin(columns: Columns): void
  /** Null where it was not begun. */
  begun(): Read | null
  /** The first read failed or begins again: a second one from before it says nothing of it. */
  drop(): void
}

export function createEarlyTexts<Read>(
  deadline: Deadline,
  read: (deadline: Deadline, columns: Columns) => Read,
): EarlyTexts<Read> {
  let current: { reading: Read; controller: AbortController } | null = null
  return {
    begin(columns) {
      const controller = new AbortController()
      const signal = AbortSignal.any([deadline.signal, controller.signal])
      current = { controller, reading: read({ ...deadline, signal }, columns) }
    },
    begun: () => current?.reading ?? null,
    drop() {
      current?.controller.abort()
      current = null
    },
  }
}
