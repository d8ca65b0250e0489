import type { Clients } from './clients.ts'

/** What an app asks of a person, checked. */
export interface AuthorizationRequest {
  clientId: string
  redirectUri: string
  scopes: string[]
  state: string | undefined
  nonce: string | undefined
  loginHint: string | undefined
  offline: boolean
  prompts: string[]
  includeGranted: boolean
  challenge: { value: string; method: 'S256' | 'plain' } | undefined
}

/** Google shows these to the person and does not redirect: the redirect address cannot be trusted. */
export interface RefusedRequest {
  status: number
  error: string
  description: string
}

export function readAuthorizationRequest(
  parameters: URLSearchParams,
  clients: Clients,
): { request: AuthorizationRequest } | { refused: RefusedRequest } {
  const missing = ['client_id', 'redirect_uri', 'response_type', 'scope'].find(
    (name) => !parameters.get(name),
  )
  if (missing) return refuse(400, 'invalid_request', `Required parameter is missing: ${missing}`)

  const clientId = parameters.get('client_id') ?? ''
  if (!clients.knows(clientId)) return refuse(401, 'invalid_client', 'The OAuth client was not found.')

  const redirectUri = parameters.get('redirect_uri') ?? ''
  if (!URL.canParse(redirectUri))
    return refuse(400, 'invalid_request', `Invalid redirect_uri: ${redirectUri}`)
  if (!clients.allowsRedirect(clientId, redirectUri)) {
    return refuse(
      400,
      'redirect_uri_mismatch',
      `The redirect URI in the request, ${redirectUri}, is not registered for the client.`,
    )
  }

  const responseType = parameters.get('response_type')
  if (responseType !== 'code') {
    return refuse(400, 'unsupported_response_type', `Invalid response_type: ${responseType}`)
  }

  const scopes = [...new Set((parameters.get('scope') ?? '').split(/\s+/).filter(Boolean))]
  const invalid = scopes.filter((scope) => !isScope(scope))
  if (invalid.length > 0) {
    const valid = scopes.filter(isScope)
    return refuse(
      400,
      'invalid_scope',
      `Some requested scopes were invalid. {valid=[${valid.join(', ')}], invalid=[${invalid.join(', ')}]}`,
    )
  }

  const challenge = parameters.get('code_challenge')
  const method = parameters.get('code_challenge_method') ?? 'plain'
  if (challenge && method !== 'S256' && method !== 'plain') {
    return refuse(400, 'invalid_request', `Invalid code_challenge_method: ${method}`)
  }

  return {
    request: {
      clientId,
      redirectUri,
      scopes,
      state: parameters.get('state') ?? undefined,
      nonce: parameters.get('nonce') ?? undefined,
      loginHint: parameters.get('login_hint') || undefined,
      offline: parameters.get('access_type') === 'offline',
      prompts: (parameters.get('prompt') ?? '').split(/\s+/).filter(Boolean),
      includeGranted: parameters.get('include_granted_scopes') === 'true',
      challenge: challenge ? { value: challenge, method: method === 'S256' ? 'S256' : 'plain' } : undefined,
    },
  }
}

function refuse(status: number, error: string, description: string): { refused: RefusedRequest } {
  return { refused: { status, error, description } }
}

function isScope(scope: string): boolean {
  return (
    ['openid', 'email', 'profile'].includes(scope) || scope.startsWith('https://www.googleapis.com/auth/')
  )
}
