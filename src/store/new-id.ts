import { randomBase62 } from '../random-base62.ts'

const randomLength = 22

/** `acc_…`, `sh_…`, `key_…`: unguessable, and what it names can be seen. */
export function newId(prefix: 'acc' | 'sh' | 'key'): string {
  return `${prefix}_${randomBase62(randomLength)}`
}
