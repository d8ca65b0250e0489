import { TooManyAtOnce } from '../../errors.ts'
import type { SheetFacts } from '../../store/admission/admission-facts.ts'
import { CredentialExpired, ProviderFailure } from '../provider-failure.ts'
import type { HeldSnapshot } from './held-snapshots.ts'

/*
 * When a copy in memory may be shown (docs/contract.md#freshness). In none of these cases may it be older than a write
 * that was acknowledged: `writeSeq` is the one that admission has just read.
 */

type Copy = Pick<HeldSnapshot, 'writeSeq' | 'checkedAtMs' | 'isWithdrawn'>

export function isFresh(copy: Copy, { writeSeq, cacheSeconds }: SheetFacts, nowMs: number): boolean {
  return copy.writeSeq === writeSeq && nowMs - copy.checkedAtMs < cacheSeconds * 1_000
}

/**
 * When a copy that is in use is read again ahead of its end. Not much sooner than it must be: a minute then has one read
 * more than without it, at most.
 */
export function aheadAtMs({ checkedAtMs }: Copy, { cacheSeconds }: SheetFacts): number {
  const mostAheadSeconds = cacheSeconds ** 2 / (60 + cacheSeconds)
  const aheadSeconds = Math.min(longestAheadSeconds, mostAheadSeconds * aheadShare)
  return checkedAtMs + (cacheSeconds - aheadSeconds) * 1_000
}

const longestAheadSeconds = 5
/** The rest is for timers that are late and reads that begin a little sooner. */
const aheadShare = 0.9

/** Whether somebody is likely to come for it again soon. */
export function isInUse(
  { lastUsedMs }: Pick<HeldSnapshot, 'lastUsedMs'>,
  { cacheSeconds }: SheetFacts,
  nowMs: number,
): boolean {
  return nowMs - lastUsedMs <= (cacheSeconds * 1_000) / 2
}

/** The owner's ration is scarce: an older copy is shown at once, and refreshed when its turn comes. */
export function mayAwaitItsTurn(copy: Copy, sheet: SheetFacts, nowMs: number): boolean {
  return (
    copy.writeSeq === sheet.writeSeq &&
    !copy.isWithdrawn &&
    nowMs - copy.checkedAtMs < scarceSeconds(sheet) * 1_000
  )
}

const shortestScarceSeconds = 60
const scarceCacheTimes = 6

function scarceSeconds({ cacheSeconds }: SheetFacts): number {
  return Math.max(shortestScarceSeconds, scarceCacheTimes * cacheSeconds)
}

/** Why a copy that is no longer fresh is shown after the provider failed, or null when it must not be. */
export function reasonToOutlast(
  error: unknown,
  copy: Copy,
  sheet: SheetFacts,
  { isTight, nowMs }: { isTight: boolean; nowMs: number },
): 'rationed' | 'outlasted' | null {
  if (!isPassing(error) || copy.isWithdrawn || copy.writeSeq !== sheet.writeSeq) return null
  const ageMs = nowMs - copy.checkedAtMs
  const { staleIfErrorSeconds, cacheSeconds } = sheet
  const isHalfWritten = error instanceof ProviderFailure && error.facts.isHalfWritten
  if (isHalfWritten && ageMs < (cacheSeconds + halfWrittenSeconds) * 1_000) return 'outlasted'
  if (staleIfErrorSeconds > 0 && ageMs < (cacheSeconds + staleIfErrorSeconds) * 1_000) return 'outlasted'
  // Rather than fail, let `Age` say that the ration is used up; but not for ever (docs/contract.md#freshness).
  return isTight && ageMs < scarceSeconds(sheet) * longestScarceTimes * 1_000 ? 'rationed' : null
}

function isPassing(error: unknown): boolean {
  if (error instanceof CredentialExpired) return false
  return (
    error instanceof TooManyAtOnce || (error instanceof ProviderFailure && error.facts.isPassing === true)
  )
}

const longestScarceTimes = 10
/** A half would be wrong, and these rows were right until a moment ago. */
const halfWrittenSeconds = 30
