import type { FormRecord, HeldEntry, NewEntry } from '../../store/forms/forms.ts'
import type { Store } from '../../store/store.ts'

/** For the door of forms: what looks like no person's waits for the owner, and what the owner released is added. */
export interface HeldEntries {
  /** False where no more can be held. */
  hold(entry: NewEntry): Promise<boolean>
  /** Entries of all forms but these. */
  released(most: number, exceptForms: readonly string[]): Promise<{ entry: HeldEntry; form: FormRecord }[]>
  /** The sheet did not take what its owner released. */
  holdAgain(entryId: string): Promise<void>
  forget(entryId: string): Promise<void>
}

/** One form holds no more: whoever floods it fills neither the sheet nor the disk, and the owner can look at all of it. */
const mostHeld = { entries: 1_000, characters: 1_000_000 }

export function createHeldEntries(store: Store): HeldEntries {
  return {
    hold: (entry) => store.holdEntry(entry, mostHeld),
    holdAgain: (entryId) => store.holdReleasedAgain(entryId, 'unfit'),
    async released(most, exceptForms) {
      const entries = await store.releasedEntries(most, exceptForms)
      const found = await Promise.all(
        entries.map(async (entry) => ({ entry, form: await store.findForm(entry.formId) })),
      )
      return found.flatMap(({ entry, form }) => (form ? [{ entry, form }] : []))
    },
    forget: (entryId) => store.deleteEntry(entryId),
  }
}
