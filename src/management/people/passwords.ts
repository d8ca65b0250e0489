import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Clock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { Shares } from '../../shares/shares.ts'
import { createTurnstile } from '../../shares/turnstile.ts'

/** OWASP's smallest advised setting of argon2id; what is stored says its own, so that this can grow. */
const memoryKib = 19_456
const passes = 2
const parallelism = 1
const saltBytes = 16
const tagBytes = 32
/** Each takes 19 MiB and a core for some 50 ms: a flood of sign-ins must not take the server with it. */
const maxAtOnce = 2
/** How many one network or account has checked at once: who waits comes after one of each other. */
const maxAtOnceOfOne = 1
const patienceMs = 10_000
/** Upper bound on a password: a longer one is refused before it is hashed. */
export const maxPasswordBytes = 1_024
export const minPasswordCharacters = 10

/** `whom`: those who ask take turns, so that one who asks for much keeps out nobody else. */
export interface Passwords {
  hash(password: string, whom: string): Promise<string | 'busy'>
  /** Takes as long for an owner who does not exist (`stored` null) as for a wrong password. */
  check(password: string, stored: string | null, whom: string): Promise<PasswordCheck | 'busy'>
}

export interface PasswordsParts {
  shares: Pick<Shares, 'sign_ins_waiting'>
  clock: Pick<Clock, 'elapsedMs'>
  observe: Observe
}

export interface PasswordCheck {
  isRight: boolean
  /** Right, but hashed by weaker settings than today's. */
  isOutdated: boolean
}

const derive = promisify(argon2)

export function createPasswords({ shares, clock, observe }: PasswordsParts): Passwords {
  const share = 'sign_ins_waiting'
  const turnstile = createTurnstile({
    share,
    places: maxAtOnce,
    placesOfAccount: maxAtOnceOfOne,
    waitingOfAccount: shares.sign_ins_waiting,
    clock,
    observe,
  })
  const decoy = phc(memoryKib, passes, randomBytes(saltBytes), randomBytes(tagBytes))

  return {
    hash: (password, whom) =>
      inTurn(whom, async () => {
        const salt = randomBytes(saltBytes)
        return phc(memoryKib, passes, salt, await tagOf(password, salt, memoryKib, passes))
      }),
    check: (password, stored, whom) =>
      inTurn(whom, async () => {
        const known = parseHash(stored ?? decoy)
        if (!known) throw new Error('A stored password has an unknown form')
        const tag = await tagOf(password, known.salt, known.memoryKib, known.passes)
        const isRight = stored !== null && timingSafeEqual(tag, known.tag)
        return { isRight, isOutdated: isRight && (known.memoryKib < memoryKib || known.passes < passes) }
      }),
  }

  async function inTurn<T>(whom: string, work: () => Promise<T>): Promise<T | 'busy'> {
    const place = await turnstile.takePlace(whom, patienceMs)
    if (!place) {
      observe({ event: 'share_used_up', share, accountId: null })
      return 'busy'
    }
    try {
      return await work()
    } finally {
      place.leavePlace()
    }
  }
}

function tagOf(password: string, nonce: Buffer, memory: number, rounds: number): Promise<Buffer> {
  // Composed, so that an é typed on another keyboard is the same é.
  const message = Buffer.from(password.normalize('NFC'))
  return derive('argon2id', { message, nonce, parallelism, tagLength: tagBytes, memory, passes: rounds })
}

function phc(memory: number, rounds: number, salt: Buffer, tag: Buffer): string {
  return `$argon2id$v=19$m=${memory},t=${rounds},p=${parallelism}$${encodeUnpadded(salt)}$${encodeUnpadded(tag)}`
}

function encodeUnpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

function parseHash(text: string) {
  const [, memory, rounds, salt, tag] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([\w+/]+)\$([\w+/]+)$/.exec(text) ?? []
  if (!memory || !rounds || !salt || !tag) return null
  const tagBuffer = Buffer.from(tag, 'base64')
  if (tagBuffer.byteLength !== tagBytes) return null
  return {
    memoryKib: Number(memory),
    passes: Number(rounds),
    salt: Buffer.from(salt, 'base64'),
    tag: tagBuffer,
  }
}
