import type { Clock } from '../../clock.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import { createFarClock } from './far-clock.ts'
import type { Register, SharedRegisters } from './shared-registers.ts'
import type { SharedValue, ValueForm } from './shared-value.ts'

export interface RegisterValueParts<T> {
  name: string
  form: ValueForm<T>
  registers: SharedRegisters
  clock: Clock
  /** Calls `work` after so long, unless what it returns is called before. For tests; else by the system's timers. */
  after?(delayMs: number, work: () => void): () => void
  random?(): number
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
interface SeenRegister {
  line: string
  count: number
  version: string | null
  text: string
  atMs: number
  /** It was made one with what this instance knew, and nobody else knows that yet. */
  isMerged: boolean
}

/** A change of ours that may have been kept, but the answer was lost. */
interface Unsure {
  version: string
  versionBefore: string | null
  textBefore: string
}

/** A value in a register: whoever changes it tries with what it knows, and again with what it is told. */
export function createRegisterValue<T>(parts: RegisterValueParts<T>): SharedValue<T> {
  const { form, registers, clock, after = unheldTimer, random = Math.random } = parts
  // While instances are upgraded one by one, those of another form have another value.
  const name = `${parts.name} v${form.version}`
  const far = createFarClock(clock)
  const writer = randomBase62(6)
  let seen: SeenRegister | null = null
  let unsure: Unsure | null = null
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
      if (attempt > 3) await new Promise<void>((resolve) => after(random() * attempt, resolve))
    }
    throw new Error(`The value ${name} changes faster than this instance can follow`)
  }

  async function isTaken(known: SeenRegister, text: string): Promise<boolean> {
    const line = known.line || randomBase62(6)
    const count = known.count + 1
    const version = `${line} ${count} ${writer}`
    const askedAtMs = clock.elapsedMs()
    const tried = { version, versionBefore: known.version, textBefore: known.text }
    const answer = await registers
      .swapRegister(name, known.version, { version, text }, keepMs)
      .catch((error: unknown) => {
        unsure = tried
        throw error
      })
    if (!answer.isTaken) {
      // It was sent twice on its way.
      if (answer.version === version) unsure = tried
      take(answer, askedAtMs)
      return false
    }
    unsure = null
    far.hear(answer.nowMs, askedAtMs)
    seen = { line, count, version, text, atMs: clock.elapsedMs(), isMerged: false }
    return true
  }

  async function look(): Promise<SeenRegister> {
    const askedAtMs = clock.elapsedMs()
    return take(await registers.readRegister(name), askedAtMs)
  }

  function take(register: Register, askedAtMs: number): SeenRegister {
    const beforeMs = far.nowMs()
    far.hear(register.nowMs, askedAtMs)
    const nowMs = far.nowMs()
    const atMs = clock.elapsedMs()
    if (seen && register.version === seen.version) {
      seen.atMs = atMs
      return seen
    }
    const known = knownValue()
    const there = readable(register)
    const [line = '', count = '0'] = (there && register.version?.split(' ')) ?? []
    const found = { line, count: Number(count), version: register.version, atMs }
    const isNext = seen !== null && !seen.isMerged && line === seen.line && found.count > seen.count
    if (seen && register.version === unsure?.version && seen.version === unsure.versionBefore) {
      seen = { ...seen, ...found }
    } else if (!seen || isNext || form.isIdle(known, beforeMs)) {
      seen = { ...found, text: there?.text ?? form.encode(form.empty()), isMerged: false }
      decoded = there
    } else {
      const into = there?.value ?? form.empty()
      form.merge(into, known, nowMs - beforeMs, nowMs)
      // One that was set back begins another line, so that the others notice it, too.
      const isSetBack = seen.isMerged ? seen.line === '' : seen.line === line
      seen = { ...found, line: isSetBack ? '' : line, text: form.encode(into), isMerged: true }
    }
    return seen
  }

  /** Null where there is nothing, or nothing that can be read: that is as good as lost. */
  function readable({ version, text }: Register): { text: string; value: T } | null {
    if (version === null) return null
    // The change in it was told as failed, and whoever made it may repeat it: it must not count twice.
    const counted = version === unsure?.version ? unsure.textBefore : text
    try {
      return { text: counted, value: form.decode(counted) }
    } catch {
      return null
    }
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
      .finally(lookAgainLater)
      // Last, so that nothing here ends the process: whoever changes the value is told what is wrong.
      .catch(() => {})
  }
}

/** Does not keep a process alive that has nothing else to do. */
function unheldTimer(delayMs: number, work: () => void): () => void {
  const timer = setTimeout(work, delayMs).unref()
  return () => clearTimeout(timer)
}
