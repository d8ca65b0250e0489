import { randomBase62, toBase62 } from '../secrets/random-base62.ts'

const randomLength = 22

/** `acc_…`, `sh_…`, `key_…` and so on: unguessable, and what it names can be seen. */
export function newId(
  prefix: 'acc' | 'sh' | 'key' | 'cr' | 'op' | 'own' | 'in' | 'mail' | 'wh' | 'form' | 'entry',
): string {
  return `${prefix}_${randomBase62(randomLength)}`
}

/** Enough for milliseconds until the year 2081. */
const timeLength = 7

/**
 * `op_…`: still unguessable, but those of one time stand side by side in the indexes of the store. Fifty at random made it write
 * nearly as many pages, for each batch.
 */
export function newOperationId(nowMs: number): string {
  return `op_${toBase62(Math.floor(nowMs), timeLength)}${randomBase62(randomLength - timeLength)}`
}
