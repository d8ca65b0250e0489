import type { RationBook, WaitingNote } from './ration-book.ts'

/** One who waits for a place, here or at another server. */
export interface InTurn {
  subject: string
  /** Before those who only read: somebody waits for a write. */
  isUrgent: boolean
  /**
   * By the book's clock; null until it has waited for a turn. Servers go by it among each other. Within one server it is the
   * moment of a place in the row, which passes on to those who stay when somebody is served out of turn.
   */
  sinceMs: number | null
}

/** Those who wait at this server are always told in the order in which they came. */
export interface WaiterOfAccount extends InTurn {
  accountId: string
}

export interface Next<W> {
  subject: string
  /** null: another server's, for which this one only keeps its place. */
  waiter: W | null
}

export interface OrderParts {
  isOpen(subject: string): boolean
  /** When the account had its last turn, by any measure that grows. */
  servedAt(subject: string, accountId: string): number
}

/**
 * Who comes next, urgent ones first. Among servers the longest wait goes first, as each has noted it. What is this server's turn goes
 * round those who wait here: round the subjects at the project's ration, and at a subject's round the accounts. So none waits
 * for all that another has asked for. Whoever cannot be served now because of another server is left out: its moment is not to be spent on others.
 */
export function inOrder<W extends WaiterOfAccount>(
  book: RationBook,
  waiters: readonly W[],
  others: readonly WaitingNote[],
  parts: OrderParts,
): Next<W>[] {
  const givenAt = (subject: string) => book.owners.get(subject)?.lastGivenMs ?? 0
  const ours = [true, false].flatMap((isUrgent) => {
    const equals = waiters.filter((waiter) => waiter.isUrgent === isUrgent)
    const ready = [...Map.groupBy(equals, ({ subject }) => subject)].flatMap(([subject, its]) =>
      parts.isOpen(subject) ? readyOf(its, others, (accountId) => parts.servedAt(subject, accountId)) : [],
    )
    const moments = ready.map(({ sinceMs }) => sinceMs).sort((one, other) => one - other)
    const rounds = inRounds(ready, ({ waiter }) => waiter.subject, givenAt)
    return rounds.map(({ waiter }, at) => ({ waiter, isUrgent, sinceMs: moments[at] ?? newcomerMs }))
  })
  const notes = others.map(({ subject, isUrgent, sinceMs }) => ({ subject, isUrgent, sinceMs, waiter: null }))
  return [...ours.map((each) => ({ ...each, subject: each.waiter.subject })), ...notes].sort(
    (one, other) => Number(other.isUrgent) - Number(one.isUrgent) || one.sinceMs - other.sinceMs,
  )
}

/** After all who have waited for a turn. */
const newcomerMs = Number.MAX_SAFE_INTEGER

/** Those of one subject who come before any other server's, each at its place in the row. */
function readyOf<W extends WaiterOfAccount>(
  waiters: readonly W[],
  others: readonly WaitingNote[],
  servedAt: (accountId: string) => number,
): { waiter: W; sinceMs: number }[] {
  const [first] = waiters
  if (!first) return []
  const ahead = others.filter(
    ({ subject, isUrgent }) => subject === first.subject && (isUrgent || !first.isUrgent),
  )
  const untilMs = Math.min(
    Number.POSITIVE_INFINITY,
    ...ahead.map(({ isUrgent, sinceMs }) => (isUrgent && !first.isUrgent ? 0 : sinceMs)),
  )
  return inRounds(waiters, ({ accountId }) => accountId, servedAt)
    .map((waiter, at) => ({ waiter, sinceMs: waiters[at]?.sinceMs ?? newcomerMs }))
    .filter(({ sinceMs }) => sinceMs <= untilMs)
}

/** Whoever has the fewest of its own in front of it, then whose last turn is longest ago, then who came first. */
function inRounds<T>(
  items: readonly T[],
  whoseOf: (item: T) => string,
  servedAt: (whose: string) => number,
): T[] {
  const counts = new Map<string, number>()
  return items
    .map((item) => {
      const whose = whoseOf(item)
      const round = counts.get(whose) ?? 0
      counts.set(whose, round + 1)
      return { item, round, servedAt: servedAt(whose) }
    })
    .sort((one, other) => one.round - other.round || one.servedAt - other.servedAt)
    .map(({ item }) => item)
}

/** Whoever came before the one that is served now waits in the place of the next: the longest wait here was this turn's. */
export function passOnMoments(waiters: readonly InTurn[], served: InTurn): void {
  const equals = waiters.filter(
    ({ subject, isUrgent }) => subject === served.subject && isUrgent === served.isUrgent,
  )
  const at = equals.indexOf(served)
  for (const [before, waiter] of equals.slice(0, Math.max(0, at)).entries()) {
    waiter.sinceMs = equals[before + 1]?.sinceMs ?? null
  }
}

/** How many of them come before a newcomer of this account, whose turns go round: no more of any other than its own and one. */
export function countAhead(
  waiters: readonly WaiterOfAccount[],
  newcomer: Omit<WaiterOfAccount, 'sinceMs'>,
): number {
  const counts = new Map<string, number>()
  for (const { subject, isUrgent, accountId } of waiters) {
    if (subject !== newcomer.subject || (newcomer.isUrgent && !isUrgent)) continue
    counts.set(accountId, (counts.get(accountId) ?? 0) + 1)
  }
  const own = counts.get(newcomer.accountId) ?? 0
  return [...counts.values()].reduce((sum, count) => sum + Math.min(count, own + 1), 0)
}

const maxRemembered = 10_000

/** Which accounts had a turn of late, the last one last; who is not known had none for long. */
export function createRecentTurns() {
  const turns = new Map<string, number>()
  let count = 0
  return {
    note(subject: string, accountId: string): void {
      const name = nameOf(subject, accountId)
      turns.delete(name)
      turns.set(name, ++count)
      const [oldest] = turns.keys()
      if (turns.size > maxRemembered && oldest !== undefined) turns.delete(oldest)
    },
    servedAt: (subject: string, accountId: string): number => turns.get(nameOf(subject, accountId)) ?? 0,
  }
}

function nameOf(subject: string, accountId: string): string {
  return `${accountId} ${subject}`
}
