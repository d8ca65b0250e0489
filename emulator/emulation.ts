import { type BeforeCall, createBeforeCall } from './before-call.ts'
import { type CallLog, createCallLog } from './call-log.ts'
import type { CallFacts } from './faults/call-match.ts'
import { createFaultRules, type FaultRules } from './faults/fault-rules.ts'
import type { Service } from './front-end-errors.ts'
import type { GoogleWorld } from './google-api.ts'
import { type AutoConsent, createOAuthState, type OAuthState } from './oauth/oauth-state.ts'
import { createQuotas, type QuotaLimits, type Quotas } from './rations/quotas.ts'

export interface LatencyRange {
  minMs: number
  maxMs: number
}

export interface Settings {
  /** `other` is Drive and OAuth. */
  latencyMs: Record<CallFacts['kind'], LatencyRange>
  /** Undefined: no rations. */
  quotas: QuotaLimits | undefined
  disabledServices: Service[]
  /** Hold strict data validation against writes of the API. */
  strictValidation: boolean
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
  /** A person's edits. */
  edits: BeforeCall
  /** Changes whose answer was lost and that come before a later call. */
  lateChanges: BeforeCall
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
  const world = createWorld({ now, random })
  return {
    nowMs: now,
    advanceMs(byMs) {
      aheadMs += byMs
    },
    world,
    oauth: createOAuthState(now, settings.autoConsent, world),
    quotas: createQuotas(now),
    faults: createFaultRules(),
    calls: createCallLog(now),
    edits: createBeforeCall(),
    lateChanges: createBeforeCall(),
    settings: { ...settings },
  }
}
