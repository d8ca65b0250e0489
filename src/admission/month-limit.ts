import { type Soon, then } from '../soon.ts'
import type { AccountFacts } from '../store/admission/admission-facts.ts'
import { type Admitted, type Caller, type Limits, quotaUsedUp, withoutQuota } from './admitted.ts'
import type { Quota, Reservation } from './quota.ts'

type AccountCaller = Caller & { account: AccountFacts }

/** Takes one of the month's requests now: for a read. */
export function reserveNow<P extends AccountCaller>(
  pass: P,
  limits: Limits,
  month: Quota,
  requestsPerMonth: number | null,
): Soon<Admitted<P>> {
  const { reserve, release } = withoutQuota
  if (requestsPerMonth === null)
    return { verdict: pass, isStranger: false, caller: pass, limits, reserve, release }
  const { id, createdAtMs: anchorMs, lookedUpAtMs: nowMs } = pass.account
  return then(month.reserve({ id, anchorMs, nowMs }, requestsPerMonth), (reservation) => {
    limits.quota = reservation.state
    const verdict = reservation.isAdmitted ? pass : quotaUsedUp(reservation.state, nowMs)
    return {
      verdict,
      isStranger: false,
      caller: pass,
      limits,
      reserve,
      release: reservation.release,
    }
  })
}

/** Takes one of the month's requests when the write is known to be no replay. */
export function reserveLater<P extends AccountCaller>(
  pass: P,
  limits: Limits,
  month: Quota,
  requestsPerMonth: number,
): Admitted<P> {
  const { id, createdAtMs: anchorMs, lookedUpAtMs: nowMs } = pass.account
  let held: Reservation | null = null
  return {
    verdict: pass,
    isStranger: false,
    caller: pass,
    limits,
    reserve: () =>
      then(month.reserve({ id, anchorMs, nowMs }, requestsPerMonth), (reservation) => {
        held = reservation
        limits.quota = reservation.state
        return reservation.isAdmitted ? null : quotaUsedUp(reservation.state, nowMs)
      }),
    release: () => held?.release(),
  }
}
