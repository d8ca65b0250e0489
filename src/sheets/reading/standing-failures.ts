import { StoreFailure, TooManyAtOnce } from '../../errors.ts'
import { CredentialExpired, ProviderFailure } from '../provider-failure.ts'

/** A sheet that could not be read is not asked for again by every reader: the failure stands for a while. */
export interface StandingFailures {
  /** What whoever asks now is told instead of asking the provider; null when it may be asked. */
  standing(
    name: string,
    asked: { writeSeq: number; isUrgent: boolean },
    nowMs: number,
  ): { error: unknown } | null
  noteFailure(name: string, writeSeq: number, error: unknown, nowMs: number): void
  forget(name: string): void
}

interface StandingFailure {
  error: unknown
  writeSeq: number
  failedAtMs: number
  waitMs: number
}

const firstWaitMs = 1_000
const longestWaitMs = 10_000
/** Whoever writes, or insists on an answer from now, may try so soon again. */
const urgentWaitMs = 1_000
/** Nobody has asked for so long that it is a new story. */
const forgottenAfterMs = 60_000
const maxRemembered = 10_000

export function createStandingFailures(): StandingFailures {
  const failures = new Map<string, StandingFailure>()

  return {
    standing(name, { writeSeq, isUrgent }, nowMs) {
      const failure = failures.get(name)
      // A write that came through says that the provider is there again.
      if (!failure || failure.writeSeq !== writeSeq) return null
      const agoMs = nowMs - failure.failedAtMs
      const stands = agoMs < (isUrgent ? urgentWaitMs : failure.waitMs)
      return stands ? { error: failure.error } : null
    },
    noteFailure(name, writeSeq, error, nowMs) {
      // An expired credential is in the store, where the owner can mend it at any moment; a failing store, and an
      // account that has too much under way, are not the sheet's fault.
      if (error instanceof CredentialExpired || error instanceof StoreFailure) return
      if (error instanceof TooManyAtOnce) return
      // Whoever asks waits for it, so nobody asks often; and whoever comes when it is whole must find it.
      if (error instanceof ProviderFailure && error.facts.isHalfWritten) return
      const former = failures.get(name)
      const isRepeated = former !== undefined && nowMs - former.failedAtMs < forgottenAfterMs
      const waitMs = isRepeated ? Math.min(former.waitMs * 2, longestWaitMs) : firstWaitMs
      failures.delete(name)
      failures.set(name, { error, writeSeq, failedAtMs: nowMs, waitMs })
      if (failures.size > maxRemembered) failures.delete(failures.keys().next().value ?? '')
    },
    forget(name) {
      if (failures.size > 0) failures.delete(name)
    },
  }
}
