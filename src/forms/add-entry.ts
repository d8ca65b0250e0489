import { setTimeout as sleep } from 'node:timers/promises'
import type { Pass } from '../admission/judge.ts'
import { Refusal } from '../errors.ts'
import type { EntryName, FormRecord, FormSettings } from '../management/forms/forms.ts'
import { areVisitors } from '../shares/taker.ts'
import { type Column, positionOfColumn } from '../sheets/rows/table.ts'
import type { AdditionBounds } from '../sheets/writing/order.ts'
import type { Writing } from '../sheets/writing/writing.ts'
import type { CheckedEntry } from './entry.ts'

export interface EntryToAdd {
  form: FormRecord
  pass: Pick<Pass, 'sheet' | 'account' | 'taker'>
  row: CheckedEntry['row']
  /** What is sent twice under the same name is added once. */
  name: EntryName
  /** When it was sent. */
  sentAtMs: number
  /** Whether a person sends it; asked once, for what is no repetition. */
  captchaRefusal?(): Promise<Refusal | null>
  /** Takes one of the form's hour and of the month, where it is no repetition. */
  reserve(): Promise<Refusal | null> | Refusal | null
  stillAdmitted(): Promise<Refusal | null>
}

/** Adds an entry to its sheet, once. */
export async function addEntry(asked: EntryToAdd, writing: Writing): Promise<'added' | Refusal> {
  const { form, pass, row, sentAtMs, stillAdmitted } = asked
  const { id: accountId } = pass.account
  // It became a column that Rowport fills in later.
  const isMade = pass.sheet.autoKey !== 'none'
  if (isMade && form.settings.fields.some(({ column }) => column === pass.sheet.keyColumn)) return outdated
  const text = JSON.stringify(row)
  const idempotencyKey = await currentName(accountId, asked.name, writing)
  const isForVisitors = areVisitors(pass.taker)
  const asking = { accountId, isForVisitors, sheet: pass.sheet, idempotencyKey, fingerprint: text }
  let claim = await writing.claim(asking)
  // The second of two clicks waits for what became of the first.
  for (let time = 0; isInProgress(claim) && time < mostTries; time++) {
    await sleep(waitMs)
    claim = await writing.claim(asking)
  }
  if (claim instanceof Refusal) return claim
  if ('replay' in claim)
    return claim.replay(async (answer) => (answer instanceof Refusal ? answer : ('added' as const)))
  const refusal = await refusalBefore(asked)
  if (refusal) {
    await writing.releaseKey(claim.claimed)
    return refusal
  }
  const answer = await writing.write({
    wish: { kind: 'add', rows: [row], bounds: boundsOf(form.settings, sentAtMs) },
    bytes: Buffer.byteLength(text),
    sheet: pass.sheet,
    accountId,
    isForVisitors,
    claim: claim.claimed,
    waitedMs: claim.waitedMs,
    by: null,
    stillAdmitted,
  })
  return answer instanceof Refusal ? answer : 'added'
}

async function refusalBefore(asked: EntryToAdd): Promise<Refusal | null> {
  if (asked.pass.sheet.needsReconnect) return new Refusal('token_expired')
  return (await asked.captchaRefusal?.()) ?? asked.reserve()
}

/** Whether it was added when it was sent before; waits for one that is being added. */
export async function wasAdded(accountId: string, entryName: EntryName, writing: Writing): Promise<boolean> {
  const idempotencyKey = await currentName(accountId, entryName, writing)
  const asked = { accountId, isForVisitors: true, idempotencyKey }
  let before = await writing.keyed(asked)
  for (let time = 0; before?.state === 'open' && time < mostTries; time++) {
    await sleep(waitMs)
    before = await writing.keyed(asked)
  }
  return before?.state === 'done'
}

/** The name before this one, while what was sent under it is not long ago. */
async function currentName(
  accountId: string,
  { name, former }: EntryName,
  writing: Writing,
): Promise<string> {
  const before =
    former && (await writing.keyed({ accountId, isForVisitors: true, idempotencyKey: former.name }))
  return former && before && before.ageMs < former.forMs ? former.name : name
}

/** Whether the sheet cannot take what the form lets through: a column was renamed, a key is there already. */
export function isUnfit({ code }: Refusal): boolean {
  return code === 'invalid_body' || code === 'missing_headers'
}

const waitMs = 100
const mostTries = 250

function isInProgress(claim: Awaited<ReturnType<Writing['claim']>>): boolean {
  return claim instanceof Refusal && claim.code === 'idempotency_in_progress'
}

/** Its fields, as far as the sheet has them, and what always stands there. */
function boundsOf({ fields, set }: FormSettings, sentAtMs: number): AdditionBounds {
  const time = new Date(sentAtMs).toISOString()
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
