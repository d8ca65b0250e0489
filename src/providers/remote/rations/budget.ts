import type { ShareValue } from '../../../shared-state/registers/shared-value.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { Timers } from '../../../timers.ts'
import type { Deadline } from '../deadline.ts'
import { rationOf } from './ration-book.ts'
import { rationBookForm } from './ration-book-form.ts'
import { createRationQueue } from './ration-queue.ts'
import { emptyRation, windowMs, windowOf } from './ration-window.ts'

export type RationKind = 'read' | 'write'

/** A provider's rations by the minute, kept on our side of the wire, so that it never has to refuse. */
export interface Budget {
  /** Waits for its turn as long as the deadline allows, else throws a passing `ProviderFailure`. */
  take(wish: BudgetWish): Promise<BudgetPlace>
  /** How long a newcomer waits at least, if it came now; from memory, and a guess. */
  opensInMs(who: { subject: string; kind: RationKind }): number
  /** More than half of the owner's reads of this minute are used: those who can wait, should. */
  isTight(subject: string): boolean
  /** The provider refused all the same: somebody else spends from the same ration. */
  noteRefusal(refusal: RationRefusal): void
  /** The provider took a call: the next refusal counts as a first one. */
  noteAcceptance(who: { subject: string; kind: RationKind }): void
  close(): void
}

export interface BudgetWish {
  /** The person, by the provider's name: all of an owner's sheets share one ration. */
  subject: string
  kind: RationKind
  /** Before those who only read: somebody waits for a write. */
  isUrgent: boolean
  /** For whom it is: among equals, turns go round the accounts. */
  accountId?: string
  deadline: Deadline
}

export interface BudgetPlace {
  /** To be called once, when the call has ended. A call that was never sent costs nothing. */
  endCall(end: CallEnd): void
}

type CallEnd = 'answered' | 'no_answer' | 'not_sent'

export interface RationRefusal {
  subject: string
  kind: RationKind
  per: 'user' | 'project'
  /** How long the provider says to wait, where it says so. */
  retryAfterMs?: number
}

/** Calls in any minute: of one person, and of all together under the operator's registration; `Infinity` for no limit. */
export interface BudgetLimits {
  perUser: Record<RationKind, number>
  perProject: Record<RationKind, number>
}

/** Whose ration is used up, by our own count or by the provider's, which others spend from as well. */
export interface UsedUpRation {
  kind: RationKind
  per: 'user' | 'project'
  by: 'budget' | 'provider'
}

export interface RationWords {
  /** After "quota for". */
  whose: string
  /** After "reads a minute for". */
  what: string
}

const wordsForOwners: RationWords = { whose: 'this owner', what: 'all sheets of one owner' }

export interface BudgetParts {
  /** The provider's id: servers that spend from the same rations find each other's count under it. */
  id: string
  /** What people call the provider. */
  name: string
  timers: Timers
  /** Called for the report. */
  onUsedUp(ration: UsedUpRation): void
  random: () => number
  limits: BudgetLimits
  /** How refusals call this subject's ration, where it is not one owner's. */
  wordsFor?(subject: string): RationWords | null
  /** Where all servers that spend from one ration count. */
  share: ShareValue
}

/** How long a call counts after its end. One that we gave up may still be under way. */
const heldMs: Record<CallEnd, number> = {
  // A little more than a minute: servers agree on the time only as well as they can ask for it.
  answered: windowMs + 50,
  no_answer: windowMs + 15_000,
  not_sent: 0,
}
const firstClosureMs = 1_000
/** Within five seconds after the provider gives again, so do we. */
const maxClosureMs = 4_000
/** Whatever the provider says, its minute is over then. */
const longestRetryAfterMs = windowMs
const tightShare = 0.5
/**
 * Reads come in bursts, when many sheets are opened at once. Writes to one sheet come one after the other, and what
 * comes during a pause goes out together: they are paced early, so that no pause is much longer than a second.
 */
const atOnceShares: Record<RationKind, number> = { read: 0.5, write: 1 / 6 }

export function createBudget(parts: BudgetParts): Budget {
  const rations = { read: createRation('read', parts), write: createRation('write', parts) }
  return {
    take: (wish) => rations[wish.kind].take(wish),
    opensInMs: ({ subject, kind }) => rations[kind].opensInMs(subject),
    isTight: (subject) => rations.read.usedShare(subject) > tightShare,
    noteRefusal: (refusal) => rations[refusal.kind].noteRefusal(refusal),
    noteAcceptance: ({ subject, kind }) => rations[kind].noteAcceptance(subject),
    close() {
      rations.read.close()
      rations.write.close()
    },
  }
}

function createRation(kind: RationKind, parts: BudgetParts) {
  const { id, name, timers, onUsedUp, random, limits, share } = parts
  const queue = createRationQueue({
    book: share(`${id} ${kind}s`, rationBookForm),
    timers,
    ownerWindow,
    projectWindow: (ration) => windowOf(ration, limits.perProject[kind]),
  })
  return { take, opensInMs: queue.nextInMs, noteRefusal, noteAcceptance, usedShare, close: queue.close }

  async function take({ subject, isUrgent, accountId = '', deadline }: BudgetWish): Promise<BudgetPlace> {
    const who = { subject, isUrgent, accountId }
    const openingMs = queue.opensInMs(who)
    if (openingMs > deadline.leftMs()) throw quotaUsedUp(subject, openingMs)
    const tooLate = () => quotaUsedUp(subject, queue.opensInMs(who))
    const placeId = await queue.wait(who, deadline, tooLate)
    return { endCall: (end) => queue.end(subject, placeId, heldMs[end]) }
  }

  function noteRefusal({ subject, per, retryAfterMs = 0 }: RationRefusal): void {
    onUsedUp({ kind, per, by: 'provider' })
    const varied = 0.75 + random() / 4
    queue.write((book, nowMs) => {
      const ration = per === 'user' ? rationOf(book, subject) : book.project
      // Those who were under way when it closed say nothing new.
      if (ration.closedUntilMs > nowMs) return
      const closureMs = Math.min(maxClosureMs, firstClosureMs * 2 ** ration.refusals) * varied
      ration.closedUntilMs = nowMs + Math.max(closureMs, Math.min(retryAfterMs, longestRetryAfterMs))
      ration.refusals++
      ration.isOnTrial = true
    })
  }

  function noteAcceptance(subject: string): void {
    const { book } = queue.known()
    if ((book.owners.get(subject)?.refusals ?? 0) + book.project.refusals === 0) return
    queue.write((newest) => {
      for (const ration of [rationOf(newest, subject), newest.project]) {
        ration.refusals = 0
        ration.isOnTrial = false
      }
    })
  }

  function usedShare(subject: string): number {
    const { book, nowMs } = queue.known()
    return ownerWindow(book.owners.get(subject) ?? emptyRation()).usedShare(nowMs)
  }

  function ownerWindow(ration: Parameters<typeof windowOf>[0]) {
    return windowOf(ration, limits.perUser[kind], atOnceShares[kind])
  }

  function quotaUsedUp(subject: string, openingMs: number): ProviderFailure {
    const { whose, what } = parts.wordsFor?.(subject) ?? wordsForOwners
    onUsedUp({ kind, per: 'user', by: 'budget' })
    const retryAfterSeconds = Math.max(1, Math.ceil(openingMs / 1_000))
    return new ProviderFailure(`${name}'s ${kind} quota for ${whose} is used up`, {
      isPassing: true,
      retryAfterSeconds,
      details: `${name} allows ${limits.perUser[kind]} ${kind}s a minute for ${what}. Retry in ${retryAfterSeconds} s${
        kind === 'read' ? ', or let rows be kept longer (cache_seconds)' : ''
      }.`,
    })
  }
}
