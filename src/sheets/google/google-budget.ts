import type { Clock } from '../../clock.ts'
import type { Observe } from '../../observe.ts'
import { ProviderFailure } from '../provider-failure.ts'
import type { Deadline } from './deadline.ts'
import { createRationWindow, type RationWindow, windowMs } from './ration-window.ts'
import type { Cancel, Timers } from './timers.ts'

export type RationKind = 'read' | 'write'

/** Google's rations, kept on our side of the wire, so that Google never has to refuse. */
export interface GoogleBudget {
  /** Waits for its turn as long as the deadline allows, else throws a passing `ProviderFailure`. */
  take(wish: BudgetWish): Promise<BudgetPlace>
  /** How long a newcomer waits at least, if it came now; from memory, and a guess. */
  opensInMs(who: { subject: string; kind: RationKind }): number
  /** More than half of the owner's reads of this minute are used: those who can wait, should. */
  isTight(subject: string): boolean
  /** Google refused all the same: somebody else spends from the same ration. */
  refusedByGoogle(who: { subject: string; kind: RationKind; per: 'user' | 'project' }): void
  /** Google took a call: the next refusal counts as a first one. */
  acceptedByGoogle(who: { subject: string; kind: RationKind }): void
}

export interface BudgetWish {
  /** The person, by Google's name: all of an owner's sheets share one ration. */
  subject: string
  kind: RationKind
  /** Before those who only read: somebody waits for a write. */
  isUrgent: boolean
  deadline: Deadline
}

export interface BudgetPlace {
  /** To be called once, when the call has ended. A call that was never sent costs nothing. */
  giveBack(end: 'answered' | 'no_answer' | 'not_sent'): void
}

export interface BudgetLimits {
  perUser: Record<RationKind, number>
  perProject: Record<RationKind, number>
}

export const googleRations: BudgetLimits = {
  perUser: { read: 60, write: 60 },
  perProject: { read: 300, write: 300 },
}

export interface BudgetParts {
  clock: Clock
  timers: Timers
  observe: Observe
  random: () => number
  limits: BudgetLimits
}

/** A call that we gave up may still be under way to Google. */
const straggleMs = 15_000
const firstClosureMs = 1_000
/** Within five seconds after Google gives again, so do we. */
const maxClosureMs = 4_000
const tightShare = 0.5
/**
 * Reads come in bursts, when many sheets are opened at once. Writes to one sheet come one after the other, and what
 * comes during a pause goes out together: they are paced early, so that no pause is much longer than a second.
 */
const atOnceShares: Record<RationKind, number> = { read: 0.5, write: 1 / 6 }
/** Owners that have not called for a minute are forgotten when there are so many. */
const sweepAtLines = 1_000

interface Waiter {
  number: number
  give(place: BudgetPlace): void
}

interface Ration {
  window: RationWindow
  /** Times that Google refused in a row. */
  refusals: number
}

/** The ration of one person, and those who wait for it. */
interface Line extends Ration {
  urgent: Waiter[]
  others: Waiter[]
}

export function createGoogleBudget(parts: BudgetParts): GoogleBudget {
  const rations = { read: createRation('read', parts), write: createRation('write', parts) }
  return {
    take: (wish) => rations[wish.kind].take(wish),
    opensInMs: ({ subject, kind }) => rations[kind].opensInMs(subject),
    isTight: (subject) => rations.read.usedShare(subject) > tightShare,
    refusedByGoogle: ({ subject, kind, per }) => rations[kind].close(subject, per),
    acceptedByGoogle: ({ subject, kind }) => rations[kind].reopen(subject),
  }
}

function createRation(kind: RationKind, { clock, timers, observe, random, limits }: BudgetParts) {
  const project: Ration = { window: createRationWindow(limits.perProject[kind]), refusals: 0 }
  const lines = new Map<string, Line>()
  const waitingLines = new Set<Line>()
  let numbers = 0
  let cancelTimer: Cancel = () => {}

  return { take, opensInMs, close, reopen, usedShare }

  function take({ subject, isUrgent, deadline }: BudgetWish): Promise<BudgetPlace> {
    const line = lineOf(subject)
    const queue = isUrgent ? line.urgent : line.others
    const openingMs = openingOf(line, isUrgent)
    if (openingMs > deadline.leftMs()) return Promise.reject(usedUp(openingMs))

    const { promise, resolve, reject } = Promise.withResolvers<BudgetPlace>()
    const giveUp = () => {
      queue.splice(queue.indexOf(waiter), 1)
      if (line.urgent.length + line.others.length === 0) waitingLines.delete(line)
      setTimer()
      reject(usedUp(openingOf(line, isUrgent)))
    }
    const waiter: Waiter = {
      number: numbers++,
      give(place) {
        deadline.signal.removeEventListener('abort', giveUp)
        resolve(place)
      },
    }
    queue.push(waiter)
    waitingLines.add(line)
    deadline.signal.addEventListener('abort', giveUp, { once: true })
    giveOut()
    return promise
  }

  function opensInMs(subject: string): number {
    const line = lines.get(subject)
    if (!line) return 0
    const nowMs = clock.elapsedMs()
    const atMs = Math.max(line.window.nextAtMs(nowMs), project.window.nextAtMs(nowMs))
    return Math.max(0, atMs - nowMs)
  }

  function lineOf(subject: string): Line {
    const known = lines.get(subject)
    if (known) return known
    if (lines.size >= sweepAtLines) sweep()
    const window = createRationWindow(limits.perUser[kind], atOnceShares[kind])
    const line = { window, urgent: [], others: [], refusals: 0 }
    lines.set(subject, line)
    return line
  }

  function sweep(): void {
    const nowMs = clock.elapsedMs()
    for (const [subject, line] of lines) {
      if (line.window.isIdle(nowMs) && !waitingLines.has(line)) lines.delete(subject)
    }
  }

  /** In how many milliseconds a newcomer can have a place at the earliest. */
  function openingOf(line: Line, isUrgent: boolean): number {
    const nowMs = clock.elapsedMs()
    const ahead = line.urgent.length + (isUrgent ? 0 : line.others.length)
    const atMs = Math.max(
      line.window.openingAtMs(ahead + 1, nowMs),
      project.window.openingAtMs(ahead + 1, nowMs),
    )
    return Math.max(0, atMs - nowMs)
  }

  function giveOut(): void {
    for (;;) {
      const nowMs = clock.elapsedMs()
      const line = project.window.nextAtMs(nowMs) <= nowMs ? firstInTurn(nowMs) : null
      const waiter = line && (line.urgent.shift() ?? line.others.shift())
      if (!line || !waiter) break
      if (line.urgent.length + line.others.length === 0) waitingLines.delete(line)
      line.window.take(nowMs)
      project.window.take(nowMs)
      waiter.give({ giveBack: (end) => giveBack(line, end) })
    }
    setTimer()
  }

  /** Urgent ones first, and then as they came. */
  function firstInTurn(nowMs: number): Line | null {
    let first: Line | null = null
    for (const line of waitingLines) {
      if (line.window.nextAtMs(nowMs) <= nowMs && (!first || isBefore(line, first))) first = line
    }
    return first
  }

  function setTimer(): void {
    cancelTimer()
    const nowMs = clock.elapsedMs()
    let nextMs = Number.POSITIVE_INFINITY
    for (const { window } of waitingLines) nextMs = Math.min(nextMs, window.nextAtMs(nowMs))
    nextMs = Math.max(nextMs, project.window.nextAtMs(nowMs))
    // A fraction of a millisecond too early would be a turn for nothing.
    if (Number.isFinite(nextMs)) cancelTimer = timers.after(Math.max(1, Math.ceil(nextMs - nowMs)), giveOut)
  }

  function giveBack(line: Line, end: Parameters<BudgetPlace['giveBack']>[0]): void {
    const nowMs = clock.elapsedMs()
    const heldMs = { answered: windowMs, no_answer: windowMs + straggleMs, not_sent: 0 }[end]
    line.window.giveBack(nowMs, heldMs)
    project.window.giveBack(nowMs, heldMs)
    if (waitingLines.size > 0) giveOut()
  }

  function close(subject: string, per: 'user' | 'project'): void {
    observe({ event: 'google_rationed', kind, per, by: 'google' })
    const ration = per === 'user' ? lineOf(subject) : project
    const nowMs = clock.elapsedMs()
    // Those who were under way when it closed say nothing new.
    if (ration.window.isClosed(nowMs)) return
    const closedMs = Math.min(maxClosureMs, firstClosureMs * 2 ** ration.refusals) * (0.75 + random() / 4)
    ration.refusals++
    ration.window.closeUntil(nowMs + closedMs)
  }

  function reopen(subject: string): void {
    for (const ration of [lines.get(subject), project]) {
      if (!ration || ration.refusals === 0) continue
      ration.refusals = 0
      ration.window.reopen()
      giveOut()
    }
  }

  function usedShare(subject: string): number {
    return lines.get(subject)?.window.usedShare(clock.elapsedMs()) ?? 0
  }

  function usedUp(openingMs: number): ProviderFailure {
    observe({ event: 'google_rationed', kind, per: 'user', by: 'budget' })
    const retryAfterSeconds = Math.max(1, Math.ceil(openingMs / 1_000))
    return new ProviderFailure(`Google's ration of ${kind}s for this owner is used up`, {
      isPassing: true,
      retryAfterSeconds,
      details: `Google allows ${limits.perUser[kind]} ${kind}s a minute for all sheets of one owner. Retry in ${retryAfterSeconds} s${
        kind === 'read' ? ', or let rows be kept longer (cache_seconds)' : ''
      }.`,
    })
  }
}

function isBefore(one: Line, other: Line): boolean {
  const isUrgent = one.urgent.length > 0
  if (isUrgent !== other.urgent.length > 0) return isUrgent
  return headOf(one) < headOf(other)
}

function headOf({ urgent, others }: Line): number {
  return (urgent[0] ?? others[0])?.number ?? Number.POSITIVE_INFINITY
}
