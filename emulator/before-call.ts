import { type CallFacts, type CallMatch, matches } from './faults/call-match.ts'
import { seededRandom } from './seeded-random.ts'

/** Things that happen just before a matching call: a person's edit, a change that comes late. */
export interface BeforeCall {
  /** Once, before the n-th next one. */
  schedule(nth: number, match: CallMatch, run: () => void): void
  /** Runs it again and again, before a share of the calls: the same ones for the same seed. */
  repeat(often: { rate: number; seed: number }, match: CallMatch, run: () => void): void
  clear(): void
  /** To be told of every call of Sheets and Drive, just before it is applied. Answers what went wrong. */
  arrive(call: CallFacts): string[]
}

interface HeldCall {
  match: CallMatch
  run: () => void
  /** Asked once for each matching call. */
  isDue(): boolean
  once: boolean
}

export function createBeforeCall(): BeforeCall {
  let waiting: HeldCall[] = []
  return {
    schedule(nth, match, run) {
      let left = nth
      const isDue = (): boolean => {
        left -= 1
        return left <= 0
      }
      waiting.push({ match, run, isDue, once: true })
    },
    repeat({ rate, seed }, match, run) {
      const random = seededRandom(seed)
      waiting.push({ match, run, isDue: () => random() < rate, once: false })
    },
    clear() {
      waiting = []
    },
    arrive(call) {
      const due = waiting.filter(({ match, isDue }) => matches(match, call) && isDue())
      waiting = waiting.filter((item) => !(item.once && due.includes(item)))
      const problems: string[] = []
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
