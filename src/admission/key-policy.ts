import { Refusal } from '../errors.ts'
import type { KeyPolicy, PageRight } from '../store/keys/key-policy.ts'

export type { KeyPolicy }

/**
 * What a publishable key must be allowed for a request. `never`: no such key may do it, whatever its owner wishes. A door that
 * says nothing does not compile.
 */
export type NeededRight = PageRight | 'never'

/** `null`: the request came without an `Origin`, as from everything but a page. */
export function isOriginAllowed({ origins }: Pick<KeyPolicy, 'origins'>, origin: string | null): boolean {
  if (origins === 'any') return true
  if (origin === null) return false
  const lower = origin.toLowerCase()
  return origins.some((allowed) => {
    const [scheme, parent] = allowed.split('://*.')
    if (parent === undefined) return lower === allowed
    const prefix = `${scheme}://`
    const host = lower.startsWith(prefix) ? lower.slice(prefix.length) : ''
    return host.endsWith(`.${parent}`) && hostLabels.test(host.slice(0, -parent.length - 1))
  })
}

/** `https://evil.example/.example.com` ends like a part of example.com, and is none. */
const hostLabels = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/

export function problemWithRight({ may }: Pick<KeyPolicy, 'may'>, needed: NeededRight): Refusal | null {
  if (needed !== 'never' && may.includes(needed)) return null
  return needed === 'never' ? notForPages : new Refusal('insufficient_scope', { fill: { scope: needed } })
}

const notForPages = new Refusal('insufficient_scope', {
  fill: { scope: 'read-write' },
  details:
    'A publishable key reads and adds rows, as far as its owner allows. Everything else takes a secret key, which belongs on a server.',
})
