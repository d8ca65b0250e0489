import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pass } from '../admission/judge.ts'
import { Refusal } from '../errors.ts'
import type { FormRecord, FormSettings } from '../management/forms/forms.ts'
import { type Column, positionOfColumn } from '../sheets/rows/table.ts'
import type { AdditionBounds } from '../sheets/writing/order.ts'
import type { Writing } from '../sheets/writing/writing.ts'
import type { CheckedEntry } from './entry.ts'

export interface EntryToAdd {
  form: FormRecord
  pass: Pick<Pass, 'sheet' | 'account'>
  row: CheckedEntry['row']
  /** What is sent twice under the same name is added once. */
  name: string
  nowMs: number
  /** Takes one of the month's requests, where it is no repetition. */
  reserve(): Promise<Refusal | null> | Refusal | null
  stillAdmitted(): Promise<Refusal | null>
}

/** Adds an entry to its sheet, once. */
export async function addEntry(asked: EntryToAdd, writing: Writing): Promise<'added' | Refusal> {
  const { form, pass, row, name, nowMs, stillAdmitted } = asked
  const { id: accountId } = pass.account
  // It became the key column later; a key that is taken would be told by the refusal.
  if (form.settings.fields.some(({ column }) => column === pass.sheet.keyColumn)) return outdated
  const text = JSON.stringify(row)
  const idempotencyKey = `form ${form.id} ${hash('sha256', `${name} ${text}`, 'base64url')}`
  const asking = { accountId, sheet: pass.sheet, idempotencyKey, fingerprint: text }
  let claim = await writing.claim(asking)
  // The second of two clicks waits for what became of the first.
  for (let time = 0; isInProgress(claim) && time < mostTries; time++) {
    await sleep(waitMs)
    claim = await writing.claim(asking)
  }
  if (claim instanceof Refusal) return claim
  if ('replay' in claim) return claim.replay instanceof Refusal ? claim.replay : 'added'
  const usedUp = await asked.reserve()
  const refusal = usedUp ?? (pass.sheet.needsReconnect ? new Refusal('token_expired') : null)
  if (refusal) {
    await writing.releaseKey(claim.claimed)
    return refusal
  }
  const answer = await writing.write({
    wish: { kind: 'add', rows: [row], bounds: boundsOf(form.settings, nowMs) },
    bytes: Buffer.byteLength(text),
    sheet: pass.sheet,
    accountId,
    claim: claim.claimed,
    by: null,
    stillAdmitted,
  })
  return answer instanceof Refusal ? answer : 'added'
}

const waitMs = 100
const mostTries = 250

function isInProgress(claim: Awaited<ReturnType<Writing['claim']>>): boolean {
  return claim instanceof Refusal && claim.code === 'idempotency_in_progress'
}

/** Its fields, as far as the sheet has them, and what always stands there. */
function boundsOf({ fields, set }: FormSettings, nowMs: number): AdditionBounds {
  const time = new Date(nowMs).toISOString()
  return {
    of(columns) {
      const writable = fields.map(({ column }) => columnCalled(column, columns))
      const always = set.map(([name, value]) => {
        return { column: columnCalled(name, columns), value: value === 'now()' ? time : value }
      })
      const missing = [...writable, ...always.map(({ column }) => column)].includes(null)
      if (missing) return outdated
      return {
        writable: writable.flatMap((column) => column ?? []),
        always: always.flatMap(({ column, value }) => (column ? [{ column, value }] : [])),
        mayHearOfKeys: false,
      }
    },
  }
}

function columnCalled(name: string, columns: readonly Column[]): Column | null {
  const at = positionOfColumn(columns, name)
  return at === null ? null : (columns[at] ?? null)
}

const outdated = new Refusal('invalid_body', {
  details: 'The form no longer fits its sheet. Its owner can mend that.',
})
