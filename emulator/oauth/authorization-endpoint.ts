import { driveFileScope } from '../api-method.ts'
import { htmlReply, type Reply, redirectReply } from '../http/reply.ts'
import { type AuthorizationRequest, readAuthorizationRequest } from './authorization-request.ts'
import { projectNumberOf } from './clients.ts'
import { consentPage, type OfferedAccount, readChoice, refusalPage } from './consent-page.ts'
import type { OAuthState } from './oauth-state.ts'

interface Decision {
  user: string
  scopes: string[]
  /** Picked for the app; only drive.file asks for it. */
  files: string[]
}

/** GET shows the page (or decides by itself, in automatic mode); its form comes back by POST. */
export function authorize(state: OAuthState, method: string, parameters: URLSearchParams): Reply {
  const read = readAuthorizationRequest(parameters, state.clients)
  if ('refused' in read) return htmlReply(read.refused.status, refusalPage(read.refused))
  const { request } = read

  if (method === 'POST') return decideByForm(state, request, parameters)
  if (state.autoConsent) return decideByItself(state, request)
  if (request.prompts.includes('none')) return decideSilently(state, request)
  return htmlReply(200, consentPage({ request, parameters, accounts: accountsOffered(state) }), {
    'Cache-Control': 'no-store',
    'Content-Security-Policy':
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  })
}

function decideByForm(state: OAuthState, request: AuthorizationRequest, form: URLSearchParams): Reply {
  if (form.get('decision') !== 'allow') return denied(request)
  const user = form.get('other_account')?.trim() || form.get('account')
  if (!user) return denied(request)
  const { email } = state.accounts.get(user)
  const files = form.getAll('picked_file').flatMap((choice) => {
    const { account, spreadsheetId } = readChoice(choice)
    return account === email ? [spreadsheetId] : []
  })
  return granted(state, request, { user, scopes: form.getAll('granted_scope'), files })
}

function decideByItself(state: OAuthState, request: AuthorizationRequest): Reply {
  const { user, scopes, deny, pick } = state.autoConsent ?? {}
  if (deny) return denied(request)
  const chosen = user ?? request.loginHint ?? state.accounts.all()[0]?.email ?? 'ada@example.com'
  const files = pick ? filesOf(state, chosen) : []
  return granted(state, request, { user: chosen, scopes: scopes ?? request.scopes, files })
}

/** `prompt=none`: only what was allowed before, without a page. */
function decideSilently(state: OAuthState, request: AuthorizationRequest): Reply {
  const user = request.loginHint
  const before = user ? state.grants.grantedScopes(request.clientId, state.accounts.get(user).email) : []
  if (!user || !request.scopes.every((scope) => before.includes(scope))) {
    return goBack(request, { error: 'interaction_required' })
  }
  return granted(state, request, { user, scopes: request.scopes, files: [] })
}

function filesOf(state: OAuthState, user: string): string[] {
  const { email } = state.accounts.get(user)
  return state.files.spreadsheetsOf(email).map(({ spreadsheetId }) => spreadsheetId)
}

function accountsOffered(state: OAuthState): OfferedAccount[] {
  return state.accounts
    .all()
    .map(({ email, name }) => ({ email, name, files: state.files.spreadsheetsOf(email) }))
}

function granted(state: OAuthState, request: AuthorizationRequest, decision: Decision): Reply {
  const { user, scopes, files } = decision
  const { email } = state.accounts.get(user)
  const allowed = request.scopes.filter((scope) => scopes.includes(scope))
  if (allowed.length === 0) return denied(request)
  if (allowed.includes(driveFileScope)) {
    const offered = filesOf(state, email)
    const project = projectNumberOf(request.clientId)
    for (const file of files) if (offered.includes(file)) state.files.pick(email, file, project)
  }
  const before = state.grants.grantedScopes(request.clientId, email)
  const all = request.includeGranted ? [...new Set([...before, ...allowed])] : allowed
  const code = state.grants.issueCode({
    clientId: request.clientId,
    user: email,
    scopes: all,
    redirectUri: request.redirectUri,
    challenge: request.challenge,
    // A refresh token comes with the first consent only, unless consent is asked for again.
    offline: request.offline && (before.length === 0 || request.prompts.includes('consent')),
    nonce: request.nonce,
  })
  return goBack(request, { code, scope: all.join(' '), authuser: '0', prompt: 'consent' })
}

function denied(request: AuthorizationRequest): Reply {
  return goBack(request, { error: 'access_denied' })
}

function goBack(request: AuthorizationRequest, result: Record<string, string>): Reply {
  const location = new URL(request.redirectUri)
  if (request.state !== undefined) location.searchParams.set('state', request.state)
  for (const [name, value] of Object.entries(result)) location.searchParams.set(name, value)
  return redirectReply(location.href)
}
