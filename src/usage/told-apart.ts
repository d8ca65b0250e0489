import { hash } from 'node:crypto'
import type { Shares } from '../shares/shares.ts'

/**
 * Bounds how many rows an account's figures of one day have. Each pair of a sheet and a key that asks for it has rows of its own, and both
 * can be made and deleted all day long: what comes beyond ten times the sheets of an account is counted together.
 */
export interface ToldApart {
  /** Under which sheet and key requests of this pair are counted. */
  pairFor(accountId: string, sheetId: string, keyId: string, day: number): { sheetId: string; keyId: string }
}

/** Stands for all keys beyond those that are told apart; no key has such an id. */
export const otherKeys = 'others'
/** For each sheet that an account may have. */
const pairsPerSheet = 10

export function createToldApart({ sheets }: Pick<Shares, 'sheets'>): ToldApart {
  const mostPairs = pairsPerSheet * sheets
  // Sheets with all of their further keys together.
  const mostWithOthers = 2 * mostPairs
  let dayNow = -1
  let pairsOf = new Map<string, Set<number>>()

  return {
    pairFor(accountId, sheetId, keyId, day) {
      if (day > dayNow) {
        dayNow = day
        pairsOf = new Map()
      }
      let pairs = pairsOf.get(accountId)
      if (!pairs) {
        pairs = new Set()
        pairsOf.set(accountId, pairs)
      }
      if (isTold(pairs, sheetId, keyId, mostPairs)) return { sheetId, keyId }
      // Readers without a key have a month of their own, which is summed up by this.
      const beyond = keyId === '' ? '' : otherKeys
      if (isTold(pairs, sheetId, beyond, mostWithOthers)) return { sheetId, keyId: beyond }
      return { sheetId: '', keyId: beyond }
    },
  }
}

/** By numbers instead of names, of which a busy server would hold very many; two with the same number are both told. */
function isTold(pairs: Set<number>, sheetId: string, keyId: string, most: number): boolean {
  const number = Number.parseInt(hash('sha1', `${sheetId} ${keyId}`).slice(0, 7), 16)
  if (pairs.has(number)) return true
  if (pairs.size >= most) return false
  pairs.add(number)
  return true
}
