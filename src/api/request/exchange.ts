import type { IncomingMessage } from 'node:http'
import type { Admitted, Caller, Limits } from '../../admission/admitted.ts'
import type { Refusal } from '../../errors.ts'

/** One request on its way, and what admission said of it: whoever sends the answer tells the limits and settles. */
export interface Exchange {
  request: IncomingMessage
  query: string | null
  /** Who asked, as far as the net goes. */
  clientAddress: string
  /** Until a key, or a sheet that needs none, says otherwise: what a stranger is refused counts for its address. */
  isStranger: boolean
  /** null for a stranger. */
  caller: Caller | null
  limits: Limits | null
  /** For a write, once it is known to be no replay. */
  reserve: Admitted<unknown>['reserve'] | null
  /** For an answer that is no success: it is not counted against the quota. */
  release: (() => void) | null
}

/** Takes note of limits and reservation, and passes the verdict on. */
export function noteAdmission<P>(exchange: Exchange, admitted: Admitted<P>): P | Refusal {
  const { verdict, isStranger, caller, limits, reserve, release } = admitted
  exchange.isStranger = isStranger
  exchange.caller = caller
  exchange.limits = limits
  exchange.reserve = reserve
  exchange.release = release
  return verdict
}
