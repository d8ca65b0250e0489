import { driveFileScope } from '../api-method.ts'
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
  /** `trigger_onepick`: the person picks files for the app on the way. */
  picking: Picking | undefined
}

export interface Picking {
  allowsSeveral: boolean
  /** Only these kinds of files are shown; all without any. */
  mimeTypes: string[]
  /** Only these files are shown; all without any. */
  fileIds: string[]
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

  const scopes = [...new Set(wordsOf(parameters.get('scope')))]
  const invalid = scopes.filter((scope) => !isScope(scope))
  if (invalid.length > 0) {
    const valid = scopes.filter(isScope)
    return refuse(
      400,
      'invalid_scope',
      `Some requested scopes were invalid. {valid=[${valid.join(', ')}], invalid=[${invalid.join(', ')}]}`,
    )
  }

  const prompts = wordsOf(parameters.get('prompt'))
  const isPicking = parameters.get('trigger_onepick') === 'true'
  // "only the drive.file scope is permitted for these apps and it can't be combined with any other scope"
  const combined = isPicking ? scopes.filter((scope) => scope !== driveFileScope) : []
  if (combined.length > 0) {
    return refuse(
      400,
      'invalid_scope',
      `trigger_onepick is permitted with ${driveFileScope} alone, not with ${combined.join(', ')}.`,
    )
  }
  if (isPicking && !prompts.includes('consent')) {
    return refuse(400, 'invalid_request', 'trigger_onepick requires prompt=consent.')
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
      prompts,
      includeGranted: parameters.get('include_granted_scopes') === 'true',
      challenge: challenge ? { value: challenge, method: method === 'S256' ? 'S256' : 'plain' } : undefined,
      picking: isPicking ? readPicking(parameters) : undefined,
    },
  }
}

function readPicking(parameters: URLSearchParams): Picking {
  const list = (name: string): string[] => (parameters.get(name) ?? '').split(',').filter(Boolean)
  return {
    allowsSeveral: parameters.get('allow_multiple') === 'true',
    mimeTypes: list('mimetypes'),
    fileIds: list('file_ids'),
  }
}

function wordsOf(text: string | null): string[] {
  return (text ?? '').split(/\s+/).filter(Boolean)
}

function refuse(status: number, error: string, description: string): { refused: RefusedRequest } {
  return { refused: { status, error, description } }
}

function isScope(scope: string): boolean {
  return (
    ['openid', 'email', 'profile'].includes(scope) || scope.startsWith('https://www.googleapis.com/auth/')
  )
}
