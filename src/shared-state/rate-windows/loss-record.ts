import type { Clock } from '../../clock.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import { type Soon, then } from '../../soon.ts'
import type { SharedRegisters } from '../registers/shared-registers.ts'

/**
 * When Redis was last lost, as all instances know it from the store. One of them may have been idle meanwhile, and
 * another may be the only one that cannot reach it: nobody can tell from what it saw itself.
 */
export interface LossRecord {
  /** As it stood at most `believedForMs` ago. */
  seen(): Soon<Losses>
  /** As it stands after this call. */
  seenAnew(): Promise<Losses>
  /** Whether it is still what was seen: what Redis answered since then holds only if so. */
  isStill(losses: Losses): Soon<boolean>
  /** Resolves when it is written down that Redis is lost, now; `life` is the one of which it is known again. */
  tell(life: string | null): Promise<void>
  /** By the store's clock, and never ahead of it. */
  nowMs(): number
}

export interface Losses {
  version: string
  /** The life of Redis in which it is trusted: a server that was restarted has another, and may know nothing or old things. */
  life: string
  /** When the last loss began. */
  sinceMs: number
  /** When somebody last said so. */
  toldAtMs: number
}

interface Written extends Omit<Losses, 'version'> {
  /** Somebody has said it and did not come to write the time, which is the store's and known only afterwards. */
  isUntimed: boolean
}

export interface LossRecordParts {
  registers: SharedRegisters
  clock: Clock
  /** The life of Redis that answers at present; null while it is away. */
  life(): string | null
}

/** Whoever counts in Redis has looked no longer ago than this, so nobody does so later than this after a loss was told. */
const believedForMs = 1_000
const readEveryMs = 500
const registerName = 'losses of Redis'
/** The record is kept for good: without it a restart that nobody saw would pass unnoticed. */
const keepMs = 10 * 365 * 24 * 3_600_000
const longAgoMs = 3_600_000
/** The store speaks in whole milliseconds, which may be rounded up. */
const roundedMs = 2

export function createLossRecord({ registers, clock, life }: LossRecordParts): LossRecord {
  let known: Losses | null = null
  /** By our own clock: when the question left, and when the answer was there, that is behind what is known. */
  let askedAtMs = Number.NEGATIVE_INFINITY
  let heardAtMs = 0
  let storeSaidMs = 0
  let reading: Promise<Losses> | null = null
  let telling: Promise<void> | null = null

  return {
    seen() {
      if (!known || !isBelieved()) return readOnce()
      if (clock.elapsedMs() - askedAtMs >= readEveryMs) readOnce().catch(() => {})
      return known
    },
    seenAnew: () => readLosses(),
    isStill({ version }) {
      return then(known && isBelieved() ? known : readLosses(), (now) => now.version === version)
    },
    tell(knownLife) {
      telling ??= tell(knownLife).finally(() => {
        telling = null
      })
      return telling
    },
    nowMs: () => storeSaidMs - roundedMs + clock.elapsedMs() - heardAtMs,
  }

  function isBelieved(): boolean {
    return clock.elapsedMs() - askedAtMs < believedForMs
  }

  function readOnce(): Promise<Losses> {
    reading ??= readLosses().finally(() => {
      reading = null
    })
    return reading
  }

  async function readLosses(): Promise<Losses> {
    for (;;) {
      const atMs = clock.elapsedMs()
      const { version, text, nowMs } = await registers.readRegister(registerName)
      if (version === null) {
        const past = nowMs - longAgoMs
        await put(null, { life: life() ?? '', sinceMs: past, toldAtMs: past, isUntimed: false })
        continue
      }
      const written = JSON.parse(text) as Written
      if (!written.isUntimed) return hear(atMs, nowMs, version, written)
      await putTime(version, written, nowMs)
    }
  }

  function hear(atMs: number, nowMs: number, version: string, written: Written): Losses {
    // One that was overtaken by a later question.
    if (known && atMs < askedAtMs) return known
    askedAtMs = atMs
    heardAtMs = clock.elapsedMs()
    storeSaidMs = nowMs
    if (known?.version === version) return known
    const { life, sinceMs, toldAtMs } = written
    known = { version, life, sinceMs, toldAtMs }
    return known
  }

  /**
   * In two steps: first that it is lost, which ends what others believe, then when that was by the store's clock. A
   * time that was read before might lie far back by the time it is written.
   */
  async function tell(knownLife: string | null): Promise<void> {
    for (;;) {
      const { version, text } = await registers.readRegister(registerName)
      if (version === null) {
        await readLosses()
        continue
      }
      const before = JSON.parse(text) as Written
      const untimed = { ...before, life: knownLife ?? before.life, isUntimed: true }
      const said = await put(version, untimed)
      if (said === null) continue
      await putTime(said.version, untimed, said.nowMs)
      await readLosses()
      return
    }
  }

  /** A loss that is told while the one before still counts is the same one, going on. */
  function putTime(version: string, written: Written, nowMs: number): Promise<unknown> {
    const isSameLoss = nowMs < lastsUntilMs(written)
    const sinceMs = isSameLoss ? written.sinceMs : nowMs
    return put(version, { ...written, sinceMs, toldAtMs: nowMs, isUntimed: false })
  }

  async function put(
    knownVersion: string | null,
    written: Written,
  ): Promise<{ version: string; nowMs: number } | null> {
    const version = randomBase62(12)
    const answer = await registers.swapRegister(
      registerName,
      knownVersion,
      { version, text: JSON.stringify(written) },
      keepMs,
    )
    return answer.isTaken ? { version, nowMs: answer.nowMs } : null
  }
}

/** The only windows that are counted in Redis. */
export const fleetingWindowMs = 60_000
/** How long after a loss was told nobody counts in Redis any more, with time to spare for clocks that run a little slower. */
export const heardByAllMs = believedForMs + 500

/** Until then a window of Redis that was lost may hold requests of the last minute, and nobody knows how many. */
export function lastsUntilMs({ toldAtMs }: Pick<Losses, 'toldAtMs'>): number {
  return toldAtMs + heardByAllMs + fleetingWindowMs
}
