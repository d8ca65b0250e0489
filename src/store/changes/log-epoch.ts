import { randomBase62 } from '../../secrets/random-base62.ts'

const epochLength = 8

/** Names one log of a sheet: cursors of a former one, or of one that never came to be, are told by it. */
export function newLogEpoch(): string {
  return randomBase62(epochLength)
}
