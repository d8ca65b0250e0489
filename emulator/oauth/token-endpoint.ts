import { createHash } from 'node:crypto'
import { jsonReply, oauthHeaders, type Reply } from '../http/reply.ts'
import type { AuthCode } from './grants.ts'
import { issueIdToken } from './id-token.ts'
import { judgeAssertion, jwtBearer } from './jwt-grant.ts'
import type { OAuthState } from './oauth-state.ts'

interface ClientCredentials {
  clientId: string
  clientSecret: string
}

/** POST /token: a code, a refresh token or a signed assertion for an access token. Error bodies: docs/google.md#the-token-endpoint. */
export function exchangeToken(
  state: OAuthState,
  parameters: URLSearchParams,
  authorization: string,
  origin: string,
): Reply {
  // It says by itself whose it is: no client is asked for.
  if (parameters.get('grant_type') === jwtBearer) return exchangeAssertion(state, parameters, origin)
  const client = clientCredentials(parameters, authorization)
  if (!client.clientId) return refuse(400, 'invalid_request', 'Could not determine client ID from request.')
  if (!state.clients.knows(client.clientId))
    return refuse(401, 'invalid_client', 'The OAuth client was not found.')
  if (!client.clientSecret) return refuse(400, 'invalid_request', 'client_secret is missing.')
  if (!state.clients.secretFits(client.clientId, client.clientSecret)) {
    return refuse(401, 'invalid_client', 'Unauthorized')
  }

  switch (parameters.get('grant_type')) {
    case 'authorization_code':
      return exchangeCode(state, client.clientId, parameters)
    case 'refresh_token':
      return refresh(state, client.clientId, parameters)
    case null:
      return refuse(400, 'invalid_request', 'Missing required parameter: grant_type')
    default:
      return refuse(400, 'unsupported_grant_type', `Invalid grant_type: ${parameters.get('grant_type')}`)
  }
}

function exchangeCode(state: OAuthState, clientId: string, parameters: URLSearchParams): Reply {
  const value = parameters.get('code')
  if (!value) return refuse(400, 'invalid_request', 'Missing required parameter: code')
  const redirectUri = parameters.get('redirect_uri')
  if (!redirectUri) return refuse(400, 'invalid_request', 'Missing parameter: redirect_uri')

  const code = state.grants.findCode(value)
  if (!code) return refuse(400, 'invalid_grant', 'Malformed auth code.')
  if (code.used || state.grants.isExpired(code) || code.clientId !== clientId) {
    return refuse(400, 'invalid_grant', 'Bad Request')
  }
  if (code.redirectUri !== redirectUri) return refuse(400, 'redirect_uri_mismatch', 'Bad Request')
  const verifier = parameters.get('code_verifier')
  if (code.challenge && !verifier) return refuse(400, 'invalid_grant', 'Missing code verifier.')
  if (code.challenge && verifier && !verifierFits(code.challenge, verifier)) {
    return refuse(400, 'invalid_grant', 'Invalid code verifier.')
  }

  code.used = true
  const refreshToken = code.offline ? state.grants.issueRefreshToken(code) : undefined
  return tokenReply(state, code, code.nonce, refreshToken?.value)
}

function verifierFits({ value, method }: NonNullable<AuthCode['challenge']>, verifier: string): boolean {
  return (method === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url')) === value
}

function refresh(state: OAuthState, clientId: string, parameters: URLSearchParams): Reply {
  const value = parameters.get('refresh_token')
  if (!value) return refuse(400, 'invalid_request', 'Missing required parameter: refresh_token')
  const token = state.grants.findRefreshToken(value)
  if (!token) return refuse(400, 'invalid_grant', 'Bad Request')
  if (token.revoked) return refuse(400, 'invalid_grant', 'Token has been expired or revoked.')
  if (token.clientId !== clientId && token.clientId !== anyClient) {
    return refuse(401, 'unauthorized_client', 'Unauthorized')
  }
  token.clientId = clientId
  return tokenReply(state, { ...token, offline: true })
}

function exchangeAssertion(state: OAuthState, parameters: URLSearchParams, origin: string): Reply {
  const assertion = parameters.get('assertion')
  if (!assertion) return refuse(400, 'invalid_request', 'Missing required parameter: assertion')
  const judged = judgeAssertion(state, assertion, origin)
  if ('error' in judged) {
    const status = judged.error === 'unauthorized_client' ? 401 : 400
    return refuse(status, judged.error, judged.description)
  }
  const token = state.grants.issueAccessToken({ ...judged, offline: false })
  const expiresIn = state.grants.expiresInSeconds(token)
  return jsonReply(
    200,
    { access_token: token.value, expires_in: expiresIn, token_type: 'Bearer' },
    oauthHeaders,
  )
}

/** Holder of tokens made through the control API, which belong to no app: the first client to refresh adopts them. */
export const anyClient = 'emulator-control'

interface TokenHolder {
  clientId: string
  user: string
  scopes: string[]
  offline: boolean
}

function tokenReply(state: OAuthState, holder: TokenHolder, nonce?: string, refreshToken?: string): Reply {
  const { clientId, user, scopes, offline } = holder
  const token = state.grants.issueAccessToken({ clientId, user, scopes, offline })
  const withEmail = scopes.some((scope) => scope === 'email' || scope.endsWith('/userinfo.email'))
  const idToken = scopes.includes('openid')
    ? issueIdToken({ clientId, account: state.accounts.get(user), withEmail, nonce, nowMs: state.nowMs() })
    : undefined
  return jsonReply(
    200,
    {
      access_token: token.value,
      expires_in: state.grants.expiresInSeconds(token),
      ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
      scope: scopes.join(' '),
      token_type: 'Bearer',
      ...(idToken === undefined ? {} : { id_token: idToken }),
    },
    oauthHeaders,
  )
}

function clientCredentials(parameters: URLSearchParams, authorization: string): ClientCredentials {
  const basic = /^Basic\s+(.+)$/i.exec(authorization)?.[1]
  if (basic) {
    const [clientId = '', ...secret] = Buffer.from(basic, 'base64').toString('utf8').split(':')
    return { clientId: decodeURIComponent(clientId), clientSecret: decodeURIComponent(secret.join(':')) }
  }
  return { clientId: parameters.get('client_id') ?? '', clientSecret: parameters.get('client_secret') ?? '' }
}

function refuse(status: number, error: string, description: string): Reply {
  return jsonReply(status, { error, error_description: description }, oauthHeaders)
}
