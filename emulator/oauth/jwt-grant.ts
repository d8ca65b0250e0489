import { verify } from 'node:crypto'
import type { OAuthState } from './oauth-state.ts'
import type { ServiceAccount } from './service-accounts.ts'

export const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** What Google's own clients name, whatever address they were given. */
const googlesAudience = 'https://oauth2.googleapis.com/token'
const longestSeconds = 3_600
/** How far a clock may be off. */
const toleranceSeconds = 300

export interface JwtHolder {
  clientId: string
  user: string
  scopes: string[]
}

export interface JwtRefusal {
  error: string
  description: string
}

/** RFC 7523 as Google has it: who signed it, for whom, when, and what is asked for (docs/google.md#service-accounts). */
export function judgeAssertion(
  { serviceAccounts, nowMs }: Pick<OAuthState, 'serviceAccounts' | 'nowMs'>,
  assertion: string,
  origin: string,
): JwtHolder | JwtRefusal {
  const [head = '', body = '', signature = '', ...more] = assertion.split('.')
  const header = decoded(head)
  const claims = decoded(body)
  if (!header || !claims || signature === '' || more.length > 0)
    return invalidGrant('Invalid JWT: Token must be a signed JWT.')
  const account = serviceAccounts.find(String(claims.iss ?? ''))
  if (!account) return invalidGrant('Invalid grant: account not found')
  if (header.alg !== 'RS256' || !isSigned(account, header.kid, `${head}.${body}`, signature))
    return invalidGrant('Invalid JWT Signature.')
  if (![`${origin}/token`, `${origin}/oauth2/v4/token`, googlesAudience].includes(String(claims.aud)))
    return invalidGrant(
      `Invalid JWT: Failed audience check. The right audience is ${origin}/oauth2/v4/token, ${origin}/token`,
    )
  if (!isTimely(claims, nowMs() / 1_000)) {
    return invalidGrant(
      'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.',
    )
  }
  const scopes = String(claims.scope ?? '')
    .split(' ')
    .filter(Boolean)
  if (scopes.length === 0 || !scopes.every(isScope))
    return { error: 'invalid_scope', description: 'Invalid OAuth scope or ID token audience provided.' }
  if (claims.sub !== undefined && claims.sub !== account.email) {
    return {
      error: 'unauthorized_client',
      description:
        'Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested.',
    }
  }
  return { clientId: `${account.projectNumber}-service-account`, user: account.email, scopes }
}

function decoded(part: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function isSigned({ keys }: ServiceAccount, kid: unknown, signed: string, signature: string): boolean {
  const tried = kid === undefined ? [...keys.values()] : [keys.get(String(kid))]
  return tried.some(
    (key) => key && verify('sha256', Buffer.from(signed), key, Buffer.from(signature, 'base64url')),
  )
}

function isTimely({ iat, exp }: Record<string, unknown>, nowSeconds: number): boolean {
  if (typeof iat !== 'number' || typeof exp !== 'number') return false
  return (
    exp > iat &&
    exp - iat <= longestSeconds &&
    iat <= nowSeconds + toleranceSeconds &&
    exp > nowSeconds - toleranceSeconds
  )
}

function isScope(scope: string): boolean {
  return (
    scope.startsWith('https://www.googleapis.com/auth/') || ['openid', 'email', 'profile'].includes(scope)
  )
}

function invalidGrant(description: string): JwtRefusal {
  return { error: 'invalid_grant', description }
}
