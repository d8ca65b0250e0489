import { type CallFacts, type CallMatch, matches } from './faults/call-match.ts'

/** Things that happen before the n-th next matching call: a person's edit, a change that comes late. */
export interface BeforeCall {
  schedule(nth: number, match: CallMatch, run: () => void): void
  /** To be told of every call of Sheets and Drive, just before it is applied. Answers what went wrong. */
  arrive(call: CallFacts): string[]
}

export function createBeforeCall(): BeforeCall {
  let waiting: { left: number; match: CallMatch; run: () => void }[] = []
  return {
    schedule(nth, match, run) {
      waiting.push({ left: nth, match, run })
    },
    arrive(call) {
      const problems: string[] = []
      const counted = waiting.filter(({ match }) => matches(match, call))
      for (const item of counted) item.left -= 1
      const due = counted.filter(({ left }) => left <= 0)
      waiting = waiting.filter((item) => !due.includes(item))
      for (const { run } of due) {
        try {
          run()
        } catch (error) {
          problems.push(error instanceof Error ? error.message : String(error))
        }
      }
      return problems
    },
  }
}
