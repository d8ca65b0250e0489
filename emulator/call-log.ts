import type { CallFacts } from './faults/call-match.ts'

const mostCalls = 100_000

export interface LoggedCall extends CallFacts {
  number: number
  /** ISO, by the emulator's clock. */
  time: string
  atMs: number
  query: string
  /** Null while the call runs, and for good when its answer was lost. */
  status: number | null
  fault: string | null
  /** What a change that came late would have been answered; null for all other calls, and until it comes. */
  lateStatus: number | null
  /** Whether the change took place; a late one turns true when it does. */
  applied: boolean
  /** What went wrong in edits scheduled before this call. */
  problems: string[]
}

export interface CallLog {
  begin(call: CallFacts, query: string): LoggedCall
  all(): LoggedCall[]
  /** Those after a call's number, or from an ISO time on; undefined when it is neither. */
  since(mark: string): LoggedCall[] | undefined
}

export function createCallLog(nowMs: () => number): CallLog {
  const calls: LoggedCall[] = []
  let number = 0
  return {
    begin(call, query) {
      number += 1
      const atMs = nowMs()
      const logged: LoggedCall = {
        number,
        time: new Date(atMs).toISOString(),
        atMs,
        ...call,
        query,
        status: null,
        fault: null,
        lateStatus: null,
        applied: false,
        problems: [],
      }
      calls.push(logged)
      if (calls.length > mostCalls) calls.shift()
      return logged
    },
    all: () => calls,
    since(mark) {
      if (/^\d+$/.test(mark)) return calls.filter((call) => call.number > Number(mark))
      const fromMs = Date.parse(mark)
      return Number.isNaN(fromMs) ? undefined : calls.filter((call) => call.atMs >= fromMs)
    },
  }
}
