import { parseQualities } from './qualities.ts'

/** What a body can be compressed with, the cheapest for its gain first. */
export type Coding = 'zstd' | 'br' | 'gzip'

const codings: readonly Coding[] = ['zstd', 'br', 'gzip']
const known = new Map<string, Coding | null>()
/** Clients send few different ones, and strangers must not make it grow. */
const maxKnown = 100

/** The coding that the client likes best, ours first where it likes several alike (RFC 9110, 12.5.3); null: none. */
export function acceptedCoding(acceptEncoding: string | undefined): Coding | null {
  if (acceptEncoding === undefined) return null
  const remembered = known.get(acceptEncoding)
  if (remembered !== undefined) return remembered
  const coding = best(parseQualities(acceptEncoding))
  if (known.size >= maxKnown) known.clear()
  known.set(acceptEncoding, coding)
  return coding
}

/** Whether the client likes one coding as much as another that it accepts. */
export function isAsWelcome(coding: Coding, accepted: Coding | null, acceptEncoding = ''): boolean {
  if (accepted === null) return false
  const qualities = parseQualities(acceptEncoding)
  return (qualities.get(coding) ?? 0) >= (qualities.get(accepted) ?? 1)
}

function best(qualities: ReadonlyMap<string, number>): Coding | null {
  let chosen: Coding | null = null
  let chosenQuality = 0
  for (const coding of codings) {
    const quality = qualities.get(coding) ?? (coding === 'gzip' ? qualities.get('x-gzip') : undefined) ?? 0
    if (quality > chosenQuality) {
      chosen = coding
      chosenQuality = quality
    }
  }
  const asItIs = qualities.get('identity')
  return asItIs !== undefined && asItIs > chosenQuality ? null : chosen
}
