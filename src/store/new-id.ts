import { randomBase62 } from '../secrets/random-base62.ts'

const randomLength = 22

/** `acc_…`, `sh_…`, `key_…` and so on: unguessable, and what it names can be seen. */
export function newId(
  prefix: 'acc' | 'sh' | 'key' | 'cr' | 'op' | 'own' | 'in' | 'mail' | 'wh' | 'form' | 'entry',
): string {
  return `${prefix}_${randomBase62(randomLength)}`
}
