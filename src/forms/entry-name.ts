import { hash } from 'node:crypto'
import type { EntryName } from '../management/forms/forms.ts'
import type { CheckedEntry } from './entry.ts'

export interface SentEntry {
  formId: string
  row: CheckedEntry['row']
  /** The view that it was sent from; null for pages that were made elsewhere. */
  token: string | null
  address: string
  nowMs: number
}

const minuteMs = 60_000

/**
 * An entry that is sent twice has the same name: for ever where our own page has given it a token, else for a minute, by where it came
 * from.
 */
export function nameOfEntry({ formId, row, token, address, nowMs }: SentEntry): EntryName {
  const named = (words: string) =>
    `form ${formId} ${hash('sha256', `${words} ${JSON.stringify(row)}`, 'base64url')}`
  if (token !== null) return { name: named(`view ${token}`) }
  const minute = Math.floor(nowMs / minuteMs)
  const ofMinute = (which: number) => named(`from ${address} at ${which}`)
  return { name: ofMinute(minute), former: { name: ofMinute(minute - 1), forMs: minuteMs } }
}
