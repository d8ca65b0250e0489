import { Refusal } from '../../errors.ts'
import type { TabPlace } from '../provider.ts'
import type { RefusedAnswer, WriteAnswer } from './order.ts'

/** What the journal keeps as text, so that whoever comes after a crash knows where to ask and what to tell. */

export interface JournalPlace extends TabPlace {
  provider: string
}

export interface JournalAnswer {
  answer: WriteAnswer
  /** False while the row numbers are a guess (`Prepared.isExact`). */
  isExact: boolean
  /** `Prepared.expectedLastRow`, while they are. */
  expectedLastRow?: number | null
}

export function placeText({ provider, location, credentialId }: JournalPlace): string {
  return JSON.stringify({ provider, location, credentialId })
}

export function readPlace(text: string): JournalPlace {
  return JSON.parse(text) as JournalPlace
}

/** What is exact has the same text before and after it was done, so that it need not be written again. */
export function answerText(answer: WriteAnswer, guess?: Omit<JournalAnswer, 'answer'>): string {
  const known = guess && !guess.isExact ? guess : { isExact: true }
  return JSON.stringify({ answer, ...known } satisfies JournalAnswer)
}

export function refusalText({ code, facts }: Refusal): string {
  return JSON.stringify({ kind: 'refused', code, facts } satisfies RefusedAnswer)
}

export function readAnswer(text: string): JournalAnswer | Refusal {
  const kept = JSON.parse(text) as JournalAnswer | RefusedAnswer
  return 'kind' in kept ? new Refusal(kept.code, kept.facts) : kept
}
