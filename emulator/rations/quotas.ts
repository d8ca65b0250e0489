import type { ExhaustedQuota } from '../front-end-errors.ts'

export interface QuotaLimits {
  readPerUser: number
  writePerUser: number
  readPerProject: number
  writePerProject: number
}

/** Google's own (docs/google.md#limits). */
export const googleLimits: QuotaLimits = {
  readPerUser: 60,
  writePerUser: 60,
  readPerProject: 300,
  writePerProject: 300,
}

const windowMs = 60_000

export interface RationedCall {
  kind: 'read' | 'write'
  user: string
  projectNumber: string
}

export interface Quotas {
  /** Counts the call, or says which ration it exceeds; a refused call is not counted. */
  take(call: RationedCall, limits: QuotaLimits): ExhaustedQuota | undefined
}

/**
 * A sliding minute. Google says "refilled every minute" without saying when its minute begins; a client that stays
 * inside every possible minute stays inside this one.
 */
export function createQuotas(nowMs: () => number): Quotas {
  const takenAtMs = new Map<string, number[]>()

  const recent = (key: string): number[] => {
    const times = (takenAtMs.get(key) ?? []).filter((atMs) => atMs > nowMs() - windowMs)
    takenAtMs.set(key, times)
    return times
  }

  return {
    take({ kind, user, projectNumber }, limits) {
      const ofUser = recent(`${kind} ${projectNumber} ${user}`)
      const ofProject = recent(`${kind} ${projectNumber}`)
      const userLimit = kind === 'read' ? limits.readPerUser : limits.writePerUser
      const projectLimit = kind === 'read' ? limits.readPerProject : limits.writePerProject
      if (ofUser.length >= userLimit) return { kind, per: 'user', limit: userLimit, projectNumber }
      if (ofProject.length >= projectLimit)
        return { kind, per: 'project', limit: projectLimit, projectNumber }
      ofUser.push(nowMs())
      ofProject.push(nowMs())
      return undefined
    },
  }
}
