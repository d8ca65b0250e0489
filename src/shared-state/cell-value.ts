import type { Clock } from '../clock.ts'
import { randomBase62 } from '../random-base62.ts'
import { createFarClock } from './far-clock.ts'
import type { Cell, SharedCells } from './shared-cells.ts'
import type { SharedValue, ValueForm } from './shared-value.ts'

export interface CellValueParts<T> {
  name: string
  form: ValueForm<T>
  cells: SharedCells
  clock: Clock
  /** Calls `work` after so long, unless what it returns is called before. For tests; else by the system's timers. */
  after?(delayMs: number, work: () => void): () => void
}

/**
 * What is kept elsewhere can be lost there: Redis starts empty, or is away and the store takes its place. Each instance
 * that knows of something looks so often, and brings back what it knows. Whoever must not act before all have done so
 * waits for `settledWithinMs`.
 */
export const lookEveryMs = 500
export const settledWithinMs = 3 * lookEveryMs
/** Long after the last change, when nothing in it matters any more. */
const keepMs = 10 * 60_000
/** "Nothing to do" is believed of what was seen so lately. */
const freshMs = 20
const maxAttempts = 100

/** What this instance saw last. A value's versions count up; one that was begun anew has another line. */
interface Seen {
  line: string
  count: number
  version: string | null
  text: string
  atMs: number
  /** It was made one with what this instance knew, and nobody else knows that yet. */
  isMerged: boolean
}

/** A value in a cell: whoever changes it tries with what it knows, and again with what it is told. */
export function createCellValue<T>(parts: CellValueParts<T>): SharedValue<T> {
  const { name, form, cells, clock, after = unheldTimer } = parts
  const far = createFarClock(clock)
  const writer = randomBase62(6)
  let seen: Seen | null = null
  /** Of what was seen last; decoding is most of what a change costs. */
  let decoded: { text: string; value: T } | null = null
  let turn: Promise<unknown> = Promise.resolve()
  let isClosed = false
  let cancelLook = () => {}

  return {
    change(work) {
      const changed = turn.then(() => attempts(work))
      turn = changed.catch(() => {})
      return changed.finally(lookAgainLater)
    },
    known: () => ({ value: knownValue(), nowMs: far.nowMs() }),
    isShared: true,
    close() {
      isClosed = true
      cancelLook()
    },
  }

  async function attempts<R>(work: (value: T, nowMs: number) => R | null): Promise<R | null> {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const known = seen ?? (await look())
      const value = knownValue()
      // From here on it is the work's, and known again only if that is kept.
      decoded = null
      const result = work(value, far.nowMs())
      if (result === null && !known.isMerged) {
        decoded = { text: known.text, value }
        if (clock.elapsedMs() - known.atMs <= freshMs) return null
        await look()
        continue
      }
      const text = form.encode(value)
      if (await isTaken(known, text)) {
        decoded = { text, value }
        return result
      }
      // Of many who come at once one gets through each time; they need not all come back at once.
      if (attempt > 3) await new Promise<void>((resolve) => after(Math.random() * attempt, resolve))
    }
    throw new Error(`The value ${name} changes faster than this instance can follow`)
  }

  async function isTaken(known: Seen, text: string): Promise<boolean> {
    const line = known.line || randomBase62(6)
    const count = known.count + 1
    const version = `${line} ${count} ${writer}`
    const askedAtMs = clock.elapsedMs()
    const answer = await cells.swap(name, known.version, { version, text }, keepMs)
    if (!answer.isTaken) {
      take(answer, askedAtMs)
      return false
    }
    far.hear(answer.nowMs, askedAtMs)
    seen = { line, count, version, text, atMs: clock.elapsedMs(), isMerged: false }
    return true
  }

  async function look(): Promise<Seen> {
    const askedAtMs = clock.elapsedMs()
    return take(await cells.look(name), askedAtMs)
  }

  function take(cell: Cell, askedAtMs: number): Seen {
    const beforeMs = far.nowMs()
    far.hear(cell.nowMs, askedAtMs)
    const nowMs = far.nowMs()
    const [line = '', count = '0'] = cell.version?.split(' ') ?? []
    const found = { line, count: Number(count), version: cell.version, atMs: clock.elapsedMs() }
    const isIdle = form.isIdle(knownValue(), beforeMs)
    if (seen && found.version === seen.version) {
      seen.atMs = found.atMs
    } else if (!seen || isIdle || (!seen.isMerged && line === seen.line && found.count > seen.count)) {
      seen = { ...found, text: cell.text || form.encode(form.empty()), isMerged: false }
    } else {
      const into = cell.version === null ? form.empty() : form.decode(cell.text)
      form.merge(into, knownValue(), nowMs - beforeMs, nowMs)
      // One that was set back begins another line, so that the others notice it, too.
      const isSetBack = seen.isMerged ? seen.line === '' : seen.line === line
      seen = { ...found, line: isSetBack ? '' : line, text: form.encode(into), isMerged: true }
    }
    return seen
  }

  function knownValue(): T {
    if (!seen) return form.empty()
    if (decoded?.text !== seen.text) decoded = { text: seen.text, value: form.decode(seen.text) }
    return decoded.value
  }

  function lookAgainLater(): void {
    cancelLook()
    if (isClosed || form.isIdle(knownValue(), far.nowMs())) return
    cancelLook = after(lookEveryMs, lookAgain)
  }

  function lookAgain(): void {
    turn = turn
      .then(() => attempts(() => null))
      .catch(() => {})
      .finally(lookAgainLater)
  }
}

/** Does not keep a process alive that has nothing else to do. */
function unheldTimer(delayMs: number, work: () => void): () => void {
  const timer = setTimeout(work, delayMs).unref()
  return () => clearTimeout(timer)
}
