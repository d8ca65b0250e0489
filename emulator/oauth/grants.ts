import { randomBytes } from 'node:crypto'

const accessTokenSeconds = 3600
const codeSeconds = 600
/** Upper bound for one account and one client; the oldest dies silently (docs/google.md#tokens). */
const mostRefreshTokens = 100

export interface AuthCode {
  clientId: string
  user: string
  scopes: string[]
  redirectUri: string
  challenge: { value: string; method: 'S256' | 'plain' } | undefined
  offline: boolean
  nonce: string | undefined
  expiresAtMs: number
  used: boolean
}

export interface RefreshToken {
  value: string
  clientId: string
  user: string
  scopes: string[]
  revoked: boolean
}

export interface AccessToken {
  value: string
  clientId: string
  user: string
  scopes: string[]
  offline: boolean
  expiresAtMs: number
  revoked: boolean
}

export type Holder = Pick<AccessToken, 'clientId' | 'user' | 'scopes' | 'offline'>

/** Everything people have allowed to apps: codes, access tokens, refresh tokens. */
export interface Grants {
  issueCode(code: Omit<AuthCode, 'expiresAtMs' | 'used'>): string
  findCode(value: string): AuthCode | undefined
  issueAccessToken(holder: Holder): AccessToken
  issueRefreshToken(holder: Omit<Holder, 'offline'>): RefreshToken
  findAccessToken(value: string): AccessToken | undefined
  findRefreshToken(value: string): RefreshToken | undefined
  isExpired(token: AccessToken | AuthCode): boolean
  expiresInSeconds(token: AccessToken): number
  /** What the account has allowed to the client so far; empty before the first consent. */
  grantedScopes(clientId: string, user: string): string[]
  /** Ends all tokens of the account, for one client or for all. Answers how many there were. */
  revoke(user: string, clientId?: string): number
  expireAccessTokens(user: string): number
  /** The account keeps its grants, but only these scopes of them. */
  keepOnlyScopes(user: string, scopes: string[]): number
}

export function createGrants(nowMs: () => number): Grants {
  const codes = new Map<string, AuthCode>()
  const accessTokens = new Map<string, AccessToken>()
  const refreshTokens = new Map<string, RefreshToken>()

  const liveTokensOf = (user: string, clientId?: string): (AccessToken | RefreshToken)[] =>
    [...accessTokens.values(), ...refreshTokens.values()].filter(
      (token) =>
        token.user === user && !token.revoked && (clientId === undefined || token.clientId === clientId),
    )

  return {
    issueCode(code) {
      // With a slash, as Google's codes have: whoever forgets to encode or decode it falls here, too.
      const value = `4/0A${randomBytes(36).toString('base64url')}`
      codes.set(value, { ...code, expiresAtMs: nowMs() + codeSeconds * 1000, used: false })
      return value
    },
    findCode: (value) => codes.get(value),
    issueAccessToken(holder) {
      const value = `ya29.${randomBytes(80).toString('base64url')}`
      const token = { ...holder, value, expiresAtMs: nowMs() + accessTokenSeconds * 1000, revoked: false }
      accessTokens.set(value, token)
      return token
    },
    issueRefreshToken({ clientId, user, scopes }) {
      const siblings = [...refreshTokens.values()].filter(
        (token) => token.clientId === clientId && token.user === user && !token.revoked,
      )
      const oldest = siblings[0]
      if (oldest && siblings.length >= mostRefreshTokens) oldest.revoked = true
      const token = {
        clientId,
        user,
        scopes,
        value: `1//0${randomBytes(60).toString('base64url')}`,
        revoked: false,
      }
      refreshTokens.set(token.value, token)
      return token
    },
    findAccessToken: (value) => accessTokens.get(value),
    findRefreshToken: (value) => refreshTokens.get(value),
    isExpired: ({ expiresAtMs }) => nowMs() >= expiresAtMs,
    // One second less than the hour, as Google's answers have it.
    expiresInSeconds: ({ expiresAtMs }) => Math.max(0, Math.ceil((expiresAtMs - nowMs()) / 1000) - 1),
    grantedScopes: (clientId, user) => [
      ...new Set(liveTokensOf(user, clientId).flatMap(({ scopes }) => scopes)),
    ],
    revoke(user, clientId) {
      const tokens = liveTokensOf(user, clientId)
      for (const token of tokens) token.revoked = true
      return tokens.length
    },
    expireAccessTokens(user) {
      const live = [...accessTokens.values()].filter(
        (token) => token.user === user && token.expiresAtMs > nowMs(),
      )
      for (const token of live) token.expiresAtMs = nowMs()
      return live.length
    },
    keepOnlyScopes(user, scopes) {
      const tokens = liveTokensOf(user)
      for (const token of tokens) token.scopes = token.scopes.filter((scope) => scopes.includes(scope))
      return tokens.length
    },
  }
}
