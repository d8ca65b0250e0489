import type { RateWindow, RateWindows } from '../../shared-state/rate-windows/rate-windows.ts'
import type { Soon } from '../../soon.ts'
import { Problem } from '../problem.ts'

/**
 * Lets somebody try for a while, then less and less often: each step allows more tries than the one before, in a much
 * longer time. It never locks anybody out; whoever waits as told may try again.
 */
export interface Throttle {
  /** Counts one try; a problem when it has to wait, and then nothing is counted. */
  attempt(tries: readonly Tries[]): Promise<Problem | null>
  /** The problem that a try would meet now, without counting one. */
  problemNow(tries: readonly Tries[]): Promise<Problem | null>
  /** Counts one that has been made, where there is room for it. */
  count(tries: readonly Tries[]): Promise<void>
}

/** What is counted, and for whom. */
export interface Tries {
  kind:
    | 'sign-in'
    | 'sign-in from'
    | 'sign-in of'
    | 'confirm'
    | 'sign-up'
    | 'sign-up known'
    | 'google'
    | 'reset from'
    | 'reset of'
    | 'verification'
    | 'email known'
  whom: string
  steps: readonly ThrottleStep[]
}

export interface ThrottleStep {
  tries: number
  windowMs: number
}

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** Tries at one owner's password from one network, or from one session: some 1,500 a day. */
export const perGuesser: readonly ThrottleStep[] = [
  { tries: 6, windowMs: 30 * secondMs },
  { tries: 20, windowMs: 10 * minuteMs },
  { tries: 60, windowMs: hourMs },
]
/** Tries from all networks together: beyond it each of them gets fewer, but none is kept out for what the others do. */
export const siege: readonly ThrottleStep[] = [{ tries: 60, windowMs: hourMs }]
export const perGuesserInSiege: readonly ThrottleStep[] = [{ tries: 3, windowMs: 10 * minuteMs }]
/** Tries of one network, behind which a whole office may sit. */
export const perNetwork: readonly ThrottleStep[] = [
  { tries: 20, windowMs: 30 * secondMs },
  { tries: 100, windowMs: 10 * minuteMs },
  { tries: 300, windowMs: hourMs },
]
export const signUpsPerNetwork: readonly ThrottleStep[] = [
  { tries: 10, windowMs: 10 * minuteMs },
  { tries: 30, windowMs: 24 * hourMs },
]
/** How often a network may hear that an e-mail address is known already. */
export const knownAddressesPerNetwork: readonly ThrottleStep[] = [
  { tries: 3, windowMs: 10 * minuteMs },
  { tries: 10, windowMs: 24 * hourMs },
]

/** How often a network may ask for mails that reset passwords. */
export const resetsPerNetwork: readonly ThrottleStep[] = [
  { tries: 10, windowMs: 10 * minuteMs },
  { tries: 50, windowMs: 24 * hourMs },
]
/** How many such mails one address gets, whoever asks for them. */
export const resetsPerAddress: readonly ThrottleStep[] = [
  { tries: 5, windowMs: hourMs },
  { tries: 15, windowMs: 24 * hourMs },
]
export const verificationsPerAccount: readonly ThrottleStep[] = [
  { tries: 5, windowMs: 10 * minuteMs },
  { tries: 20, windowMs: 24 * hourMs },
]

/** Windows for each kind and step. Strangers name as many networks and e-mail addresses as they like; the windows stay this many. */
const buckets = 8_192

/**
 * `digest` is known to this deployment alone: who could tell which names share a bucket could use up somebody else's
 * tries by their own.
 */
export function createThrottle(windows: RateWindows, digest: (text: string) => Buffer): Throttle {
  return {
    async attempt(tries) {
      // Looked at first: a try that has to wait must not count in the longer windows, or it would prolong the wait.
      return (await ask('readWindow', tries)) ?? ask('takeFromWindow', tries)
    },
    problemNow: (tries) => ask('readWindow', tries),
    async count(tries) {
      await ask('takeFromWindow', tries)
    },
  }

  async function ask(how: 'readWindow' | 'takeFromWindow', tries: readonly Tries[]): Promise<Problem | null> {
    const asked = tries.flatMap(({ kind, whom, steps }) => {
      const bucket = digest(`${kind} ${whom}`).readUInt32BE() % buckets
      return steps.map(
        (step): Soon<RateWindow> =>
          windows[how](`tries ${kind} ${bucket} ${step.windowMs}`, step.tries, step.windowMs),
      )
    })
    const waitsMs = (await Promise.all(asked))
      .filter(({ isAdmitted }) => !isAdmitted)
      .map(({ resetAtMs, nowMs }) => resetAtMs - nowMs)
    return waitsMs.length > 0 ? tooOften(Math.max(...waitsMs)) : null
  }
}

function tooOften(waitMs: number): Problem {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / secondMs))
  const wait =
    retryAfterSeconds < 90 ? `${retryAfterSeconds} seconds` : `${Math.ceil(retryAfterSeconds / 60)} minutes`
  return new Problem(`Too many attempts. Try again in ${wait}.`, { kind: 'too_often', retryAfterSeconds })
}
