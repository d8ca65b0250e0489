import { Refusal } from '../../errors.ts'
import type { Place } from '../provider.ts'
import type { RefusedAnswer, WriteAnswer } from './order.ts'

/** What the journal keeps as text, so that whoever comes after a crash knows where to ask and what to tell. */

export interface JournalPlace extends Place {
  provider: string
}

export interface JournalAnswer {
  answer: WriteAnswer
  /** False while the row numbers are a guess (`Prepared.isExact`). */
  isExact: boolean
}

export function placeText({ provider, location, credentialId }: JournalPlace): string {
  return JSON.stringify({ provider, location, credentialId })
}

export function readPlace(text: string): JournalPlace {
  return JSON.parse(text) as JournalPlace
}

export function answerText(answer: WriteAnswer, isExact: boolean): string {
  return JSON.stringify({ answer, isExact } satisfies JournalAnswer)
}

export function refusalText({ code, facts }: Refusal): string {
  return JSON.stringify({ kind: 'refused', code, facts } satisfies RefusedAnswer)
}

export function readAnswer(text: string): JournalAnswer | Refusal {
  const kept = JSON.parse(text) as JournalAnswer | RefusedAnswer
  return 'kind' in kept ? new Refusal(kept.code, kept.facts) : kept
}
