/** The store's part for monthly quotas. */
export interface QuotaChargeStore {
  /**
   * Charges up to `wanted` requests of a billing month, never beyond `limit`. One atomic step: however many ask at
   * once, what they are granted together is never more than the limit.
   */
  chargeAhead(accountId: string, cycleStartMs: number, limit: number, wanted: number): Promise<Charge>
  /** Takes back what was charged and not used. */
  refundCharge(accountId: string, cycleStartMs: number, unused: number): Promise<void>
  /** Charges ahead what readers without a key take, which nobody's keys pay for. */
  chargePublicAhead(accountId: string, cycleStartMs: number, limit: number, wanted: number): Promise<Charge>
  refundPublicCharge(accountId: string, cycleStartMs: number, unused: number): Promise<void>
}

export interface Charge {
  granted: number
  /** By everyone in this cycle, the granted ones included. */
  charged: number
}
