import { type BeforeCall, createBeforeCall } from './before-call.ts'
import { type CallLog, createCallLog } from './call-log.ts'
import { createFaultRules, type FaultRules } from './faults/fault-rules.ts'
import type { Service } from './front-end-errors.ts'
import type { GoogleWorld } from './google-api.ts'
import { type AutoConsent, createOAuthState, type OAuthState } from './oauth/oauth-state.ts'
import { createQuotas, type QuotaLimits, type Quotas } from './rations/quotas.ts'

export interface Settings {
  latencyMs: { minMs: number; maxMs: number }
  /** Undefined: no rations. */
  quotas: QuotaLimits | undefined
  disabledServices: Service[]
  autoConsent: AutoConsent | undefined
}

/** All that `POST /_control/reset` makes anew. */
export interface Emulation {
  nowMs: () => number
  advanceMs(byMs: number): void
  world: GoogleWorld
  oauth: OAuthState
  quotas: Quotas
  faults: FaultRules
  calls: CallLog
  beforeCall: BeforeCall
  settings: Settings
}

export interface EmulationOptions {
  nowMs: () => number
  createWorld: (options: { now: () => number; random: () => number }) => GoogleWorld
  random: () => number
  settings: Settings
}

export function createEmulation({ nowMs, createWorld, random, settings }: EmulationOptions): Emulation {
  let aheadMs = 0
  const now = (): number => nowMs() + aheadMs
  return {
    nowMs: now,
    advanceMs(byMs) {
      aheadMs += byMs
    },
    world: createWorld({ now, random }),
    oauth: createOAuthState(now, settings.autoConsent),
    quotas: createQuotas(now),
    faults: createFaultRules(),
    calls: createCallLog(now),
    beforeCall: createBeforeCall(),
    settings: { ...settings },
  }
}
