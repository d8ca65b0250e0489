import { Refusal } from '../../errors.ts'
import type { Timers } from '../../timers.ts'
import { ProviderFailure } from '../provider-failure.ts'
import type { WriteAnswer, WriteOrder } from './order.ts'
import { QueuedWrite } from './queued-write.ts'

/** An order is answered within this, whatever becomes of it (docs/reliability.md#deadlines-and-retries). */
export const writeDeadlineMs = 25_000
/** What may wait for one spreadsheet. */
const maxWaiting = 200
const maxWaitingBytes = 64 * 1024 * 1024
/** Beside those, what visitors of pages have sent: whatever they do, nobody with a key is refused for it. */
const partOfVisitors = 1 / 2

/** A request that is read in one turn of the loop is let in, and looks its sheet up, in those after it. */
const quietLoopTurns = 4
const mostLoopTurns = 200

/** One spreadsheet's writes, one after the other, in the order in which they came. */
export interface Lane {
  /** A refusal when too much waits already. */
  enter(order: WriteOrder): Entered | Refusal
  /**
   * Runs before any order that has not begun. `work` never throws; `giveUp` is told why its turn does not come.
   */
  hold(work: () => Promise<void>, giveUp?: (why: unknown) => void): void
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
}

export interface Entered {
  answered: Promise<WriteAnswer | Refusal>
}

export interface LaneParts {
  timers: Timers
  /** Before the next batch is taken: those who come meanwhile can be in it. Never throws. */
  untilTurn?(first: WriteOrder): Promise<void>
  /** Resolves in the next turn of the event loop; where it is given, those who come meanwhile are waited for. Never throws. */
  nextLoopTurn?(): Promise<void>
  /** How many of those that wait go next, at least one. */
  batchLength(waiting: readonly WriteOrder[]): number
  /** Sees to it that each one is answered; never throws. */
  work(batch: readonly QueuedWrite[]): Promise<void>
  /** For an order whose time ran out before anything was sent; never throws. */
  free(order: WriteOrder): Promise<unknown>
  /** Others may write to the same spreadsheet as well: nothing is done unless this lane has its turn among them. */
  turn: LaneTurn
  onIdle(): void
}

export interface LaneTurn {
  /**
   * At once while it lasts. False when it will not come any more, because the server closes; throws what those who wait
   * are to be told instead of waiting on.
   */
  begin(): Promise<boolean>
  /** After each piece of work; may end the turn. */
  pass(): Promise<void>
  end(): Promise<void>
}

interface HeldWork {
  work(): Promise<void>
  giveUp(why: unknown): void
}

export function createLane(parts: LaneParts): Lane {
  const { timers, untilTurn, nextLoopTurn, batchLength, work, free, turn, onIdle } = parts
  let held: HeldWork[] = []
  let queue: QueuedWrite[] = []
  const waitingBytes = { ofKeys: 0, ofVisitors: 0 }
  let running: Promise<void> | null = null

  return {
    enter(order) {
      if (isFull(order)) return tooMany()
      const waiting = new QueuedWrite(order)
      const cancel = timers.after(writeDeadlineMs - (order.waitedMs ?? 0), () => {
        leave([waiting])
        waiting.expire(() => free(order))
      })
      queue.push(waiting)
      waitingBytes[kindOf(order)] += order.bytes
      running ??= run()
      return { answered: waiting.answered.finally(cancel) }
    },
    hold(work, giveUp = () => {}) {
      held.push({ work, giveUp })
      running ??= run()
    },
    async idle() {
      await running
    },
  }

  function isFull(order: WriteOrder): boolean {
    const kind = kindOf(order)
    const part = kind === 'ofVisitors' ? partOfVisitors : 1
    const waiting = queue.filter((one) => kindOf(one.order) === kind).length
    return waiting >= maxWaiting * part || waitingBytes[kind] + order.bytes > maxWaitingBytes * part
  }

  async function run(): Promise<void> {
    // Those who come at the same moment go together.
    await Promise.resolve()
    // Someone may come while the turn is being ended.
    while (held.length + queue.length > 0) {
      while (held.length + queue.length > 0) {
        if (!(await hasTurn())) giveUp()
        await workOnce()
        await turn.pass()
      }
      await turn.end()
    }
    running = null
    onIdle()
  }

  async function hasTurn(): Promise<boolean> {
    try {
      return await turn.begin()
    } catch (error) {
      // What is left in the journal is looked at again in a second.
      giveUpHeld(error)
      for (const waiting of take(queue.length)) {
        await free(waiting.order)
        waiting.fail(error)
      }
      return true
    }
  }

  async function workOnce(): Promise<void> {
    const first = held.shift()
    const [next] = queue
    if (first) await first.work()
    else if (next) {
      await untilTurn?.(next.order)
      if (nextLoopTurn) await untilNobodyComes(nextLoopTurn)
      if (queue.length > 0) await work(take(batchLength(queue.map(({ order }) => order))))
    }
  }

  /**
   * Those who were answered together ask again together, but are read from their connections one after the other. Whoever went first
   * alone would have the others wait for two batches, each with what a batch costs.
   */
  async function untilNobodyComes(nextLoopTurn: () => Promise<void>): Promise<void> {
    let known = queue.length
    let quietTurns = 0
    for (let turns = 0; turns < mostLoopTurns && quietTurns < quietLoopTurns; turns++) {
      await nextLoopTurn()
      quietTurns = queue.length > known ? 0 : quietTurns + 1
      known = queue.length
    }
  }

  /** What is left in the journal, others settle; nothing of the rest was sent. */
  function giveUp(): void {
    giveUpHeld(new ProviderFailure('the server is closing'))
    for (const waiting of take(queue.length)) waiting.expire(() => free(waiting.order))
  }

  function giveUpHeld(why: unknown): void {
    const givenUp = held
    held = []
    for (const { giveUp } of givenUp) giveUp(why)
  }

  function take(count: number): QueuedWrite[] {
    const batch = queue.slice(0, count)
    leave(batch)
    return batch
  }

  function leave(gone: readonly QueuedWrite[]): void {
    const isGone = new Set(gone)
    queue = queue.filter((waiting) => {
      if (isGone.has(waiting)) waitingBytes[kindOf(waiting.order)] -= waiting.order.bytes
      return !isGone.has(waiting)
    })
  }
}

function kindOf({ isForVisitors = false }: WriteOrder): 'ofVisitors' | 'ofKeys' {
  return isForVisitors ? 'ofVisitors' : 'ofKeys'
}

function tooMany(): Refusal {
  const details = 'Too many writes are waiting for this spreadsheet.'
  return new Refusal('service_unavailable', { details, retryAfterSeconds: 1 })
}
