import type { CallMatch } from './call-match.ts'

/** The call is never applied. */
export const faultsInstead = [
  '429',
  '500',
  '503',
  'reset',
  'hang',
  'html',
  'huge',
  'serviceDisabled',
  'answer',
] as const
/** The call is applied, then its answer is spoilt or lost. */
export const faultsAfter = [
  '500AfterApply',
  '503AfterApply',
  'resetAfterApply',
  'hangAfterApply',
  'truncated',
  'cut',
  'wrongTypes',
  'drip',
] as const
/** The answer is lost now, the change comes later. */
export const faultsLate = ['applyLate'] as const

export const faultKinds = [...faultsInstead, ...faultsAfter, ...faultsLate] as const
export type FaultKind = (typeof faultKinds)[number]

export interface Fault {
  match: CallMatch
  kind: FaultKind
  /** How often it strikes; without it, for ever. */
  times: number | undefined
  /** Share of the matching calls that it strikes. */
  rate: number
  seed: number
  /** html, answer */
  status: number | undefined
  /** answer */
  body: unknown
  /** applyLate: after so many milliseconds … */
  delayMs: number
  /** … or before the n-th next call, if given. */
  beforeCall: number | undefined
  /** applyLate: how the answer is lost. */
  lose: 'reset' | 'hang'
  /** drip: pause between two pieces, and their size. */
  intervalMs: number
  chunkBytes: number
  /** huge: size before compression. */
  bytes: number
  /** huge: sent compressed, small on the wire and large in memory. */
  gzip: boolean
}

export function strikes<Kind extends FaultKind>(kinds: readonly Kind[], fault: Fault): boolean {
  return (kinds as readonly FaultKind[]).includes(fault.kind)
}
