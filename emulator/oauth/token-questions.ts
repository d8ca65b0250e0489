import { jsonReply, oauthHeaders, type Reply } from '../http/reply.ts'
import type { AccessToken } from './grants.ts'
import type { OAuthState } from './oauth-state.ts'

/** The bearer token of a request: header first, then the parameter that Google accepts as well. */
export function bearerOf(parameters: URLSearchParams, authorization: string): string | undefined {
  return /^Bearer\s+(\S+)/i.exec(authorization)?.[1] ?? (parameters.get('access_token') || undefined)
}

export function liveToken(state: OAuthState, value: string | undefined): AccessToken | undefined {
  const token = value === undefined ? undefined : state.grants.findAccessToken(value)
  return token && !token.revoked && !state.grants.isExpired(token) ? token : undefined
}

export function tokenInfo(state: OAuthState, parameters: URLSearchParams, authorization: string): Reply {
  const token = liveToken(state, bearerOf(parameters, authorization))
  if (!token) {
    return jsonReply(400, { error: 'invalid_token', error_description: 'Invalid Value' }, oauthHeaders)
  }
  const account = state.accounts.get(token.user)
  // Numbers and booleans are strings here, unlike in userinfo.
  return jsonReply(
    200,
    {
      azp: token.clientId,
      aud: token.clientId,
      sub: account.sub,
      scope: token.scopes.join(' '),
      exp: String(Math.floor(token.expiresAtMs / 1000)),
      expires_in: String(state.grants.expiresInSeconds(token)),
      ...(mayReadEmail(token) ? { email: account.email, email_verified: 'true' } : {}),
      access_type: token.offline ? 'offline' : 'online',
    },
    oauthHeaders,
  )
}

export function userInfo(state: OAuthState, parameters: URLSearchParams, authorization: string): Reply {
  const token = liveToken(state, bearerOf(parameters, authorization))
  if (!token) {
    return jsonReply(
      401,
      { error: 'invalid_request', error_description: 'Invalid Credentials' },
      {
        ...oauthHeaders,
        'WWW-Authenticate': 'Bearer realm="https://accounts.google.com/", error=invalid_request',
      },
    )
  }
  const { sub, name, email } = state.accounts.get(token.user)
  const mayReadName = token.scopes.some((scope) => scope === 'profile' || scope.endsWith('/userinfo.profile'))
  return jsonReply(
    200,
    {
      sub,
      ...(mayReadName ? { name, given_name: name.split(' ')[0] } : {}),
      ...(mayReadEmail(token) ? { email, email_verified: true } : {}),
    },
    oauthHeaders,
  )
}

/** Either token of a grant ends the whole grant: all that the account has allowed to the client. */
export function revokeToken(state: OAuthState, parameters: URLSearchParams): Reply {
  const value = parameters.get('token')
  if (!value) {
    return jsonReply(
      400,
      { error: 'invalid_request', error_description: 'Missing required parameter: token' },
      oauthHeaders,
    )
  }
  const token = state.grants.findRefreshToken(value) ?? liveToken(state, value)
  if (!token || token.revoked) {
    return jsonReply(
      400,
      { error: 'invalid_token', error_description: 'Token expired or revoked' },
      oauthHeaders,
    )
  }
  state.grants.revoke(token.user, token.clientId)
  return jsonReply(200, {}, oauthHeaders)
}

function mayReadEmail({ scopes }: AccessToken): boolean {
  return scopes.some((scope) => scope === 'email' || scope.endsWith('/userinfo.email'))
}
