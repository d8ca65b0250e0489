import type { Admission } from '../admission/admit.ts'
import { Refusal } from '../errors.ts'
import type { FormRecord, HeldEntry } from '../management/forms/forms.ts'
import type { HeldEntries } from '../management/forms/held-entries.ts'
import type { Observe } from '../reporting/observe.ts'
import { randomBase62 } from '../secrets/random-base62.ts'
import type { Writing } from '../sheets/writing/writing.ts'
import { addEntry, isUnfit } from './add-entry.ts'

export interface ReleasingParts {
  entries: HeldEntries
  admission: Pick<Admission, 'admitForm'>
  writing: Writing
  observe: Observe
}

const releaseEveryMs = 2_000
const mostAtOnce = 50

/**
 * Adds what owners have released. The release is in the store, so a command or any instance can make it; the entry's id names the write, so
 * that several instances add it once.
 */
export function startReleasing(parts: ReleasingParts): { close(): Promise<void> } {
  const { entries, admission, writing, observe } = parts
  let underWay: Promise<void> | null = null
  const timer = setInterval(() => {
    underWay ??= releaseDue().finally(() => {
      underWay = null
    })
  }, releaseEveryMs)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      await underWay
    },
  }

  async function releaseDue(): Promise<void> {
    try {
      // Forms whose entries cannot be added just now: those of others do not wait for them.
      const waiting = new Set<string>()
      for (;;) {
        const due = await entries.released(mostAtOnce, [...waiting])
        if (due.length === 0) return
        for (const { entry, form } of due) {
          if (!waiting.has(form.id) && (await releaseOne(entry, form)) === 'later') waiting.add(form.id)
        }
      }
    } catch (error) {
      observe({ event: 'malfunction', reference: randomBase62(12), operation: 'add_rows', error })
    }
  }

  async function releaseOne(entry: HeldEntry, form: FormRecord): Promise<'done' | 'later'> {
    const stillAdmitted = async () => {
      const again = await admission.admitForm(form, null)
      return again.verdict instanceof Refusal ? again.verdict : null
    }
    const { verdict, reserve, release } = await admission.admitForm(form, null)
    if (verdict instanceof Refusal) return 'later'
    const asked = { form, pass: verdict, row: [...entry.row], reserve, stillAdmitted }
    const name = { name: await nameToAddUnder(entry, form.accountId) }
    const outcome = await addEntry({ ...asked, name, sentAtMs: entry.receivedAtMs }, writing)
    if (outcome === 'added') {
      await entries.forget(entry.id)
      return 'done'
    }
    release()
    if (!isUnfit(outcome)) return 'later'
    await entries.holdAgain(entry.id)
    return 'done'
  }

  /** Its own, so that what its visitor sends once more is not added too; unless it was refused under that, which is kept. */
  async function nameToAddUnder({ id, name }: HeldEntry, accountId: string): Promise<string> {
    const before = name === null ? null : await writing.keyed({ accountId, idempotencyKey: name })
    return name === null || before?.state === 'refused' ? `form entry ${id}` : name
  }
}
