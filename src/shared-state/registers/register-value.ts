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

/** An instance that changes nothing itself still guesses from what it knows: that is no older than this. */
export const refreshEveryMs = 1_000
/** A value is kept for so long after its last change: nothing in it matters any more by then. */
const keepMs = 10 * 60_000
/** "Nothing to do" is believed of what was seen so lately. */
const freshMs = 20
const maxAttempts = 100

/** The register as this instance saw it last. */
interface SeenRegister {
  version: string | null
  text: string
  atMs: number
}

/** A value in a register: whoever changes it tries with what it knows, and again with what it is told. */
export function createRegisterValue<T>(parts: RegisterValueParts<T>): SharedValue<T> {
  const { form, registers, clock, after = unheldTimer, random = Math.random } = parts
  // While instances are upgraded one by one, those of another form have another value.
  const name = `${parts.name} v${form.version}`
  const far = createFarClock(clock)
  let seen: SeenRegister | null = null
  /** What was seen last, decoded: that is most of what a change costs. */
  let decoded: { text: string; value: T } | null = null
  let turn: Promise<unknown> = Promise.resolve()
  let isClosed = false
  let cancelRefresh = () => {}

  return {
    change(work) {
      const changed = turn.then(() => attempts(work))
      turn = changed.catch(() => {})
      return changed.finally(refreshLater)
    },
    known: () => ({ value: knownValue(), nowMs: far.nowMs() }),
    close() {
      isClosed = true
      cancelRefresh()
    },
  }

  async function attempts<R>(work: (value: T, nowMs: number) => R | null): Promise<R | null> {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const known = seen ?? (await refreshSeen())
      const value = knownValue()
      // From here on it is the work's, and known again only if that is kept.
      decoded = null
      const result = work(value, far.nowMs())
      if (result === null) {
        decoded = { text: known.text, value }
        if (clock.elapsedMs() - known.atMs <= freshMs) return null
        await refreshSeen()
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
    const version = randomBase62(12)
    const askedAtMs = clock.elapsedMs()
    const answer = await registers.swapRegister(name, known.version, { version, text }, keepMs)
    if (!answer.isTaken) {
      hear(answer, askedAtMs)
      return false
    }
    far.hear(answer.nowMs, askedAtMs)
    seen = { version, text, atMs: clock.elapsedMs() }
    return true
  }

  async function refreshSeen(): Promise<SeenRegister> {
    const askedAtMs = clock.elapsedMs()
    return hear(await registers.readRegister(name), askedAtMs)
  }

  function hear(register: Register, askedAtMs: number): SeenRegister {
    far.hear(register.nowMs, askedAtMs)
    const isKnown = seen !== null && seen.version === register.version
    const text = isKnown && seen ? seen.text : readableText(register)
    seen = { version: register.version, text, atMs: clock.elapsedMs() }
    return seen
  }

  /** Text that nobody can read counts as none, so that the next change puts something else in its place. */
  function readableText({ version, text }: Register): string {
    try {
      if (version !== null) {
        decoded = { text, value: form.decode(text) }
        return text
      }
    } catch {}
    return form.encode(form.empty())
  }

  function knownValue(): T {
    if (!seen) return form.empty()
    if (decoded?.text !== seen.text) decoded = { text: seen.text, value: form.decode(seen.text) }
    return decoded.value
  }

  function refreshLater(): void {
    cancelRefresh()
    if (isClosed || form.isIdle(knownValue(), far.nowMs())) return
    cancelRefresh = after(refreshEveryMs, refreshOnTime)
  }

  function refreshOnTime(): void {
    turn = turn
      .then(() => attempts(() => null))
      .finally(refreshLater)
      // Last, so that nothing here ends the process: whoever changes the value is told what is wrong.
      .catch(() => {})
  }
}

/** Does not keep a process alive that has nothing else to do. */
function unheldTimer(delayMs: number, work: () => void): () => void {
  const timer = setTimeout(work, delayMs).unref()
  return () => clearTimeout(timer)
}
