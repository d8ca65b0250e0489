import { htmlReply, type Reply, redirectReply } from '../http/reply.ts'
import { type AuthorizationRequest, readAuthorizationRequest } from './authorization-request.ts'
import { projectNumberOf } from './clients.ts'
import { consentPage, type OfferedAccount, refusalPage } from './consent-page.ts'
import { filesToPick, type ShownFile, ticksIn } from './file-picker.ts'
import type { OAuthState } from './oauth-state.ts'

interface Decision {
  user: string
  scopes: string[]
  /** Picked for the app, where it asks for that. */
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
  return askPerson(state, request, parameters)
}

function askPerson(
  state: OAuthState,
  request: AuthorizationRequest,
  parameters: URLSearchParams,
  chosen?: string,
): Reply {
  const accounts = accountsOffered(state, request)
  const page = consentPage({ request, parameters, accounts, ...(chosen === undefined ? {} : { chosen }) })
  return htmlReply(200, page, {
    'Cache-Control': 'no-store',
    'Content-Security-Policy':
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  })
}

function decideByForm(state: OAuthState, request: AuthorizationRequest, form: URLSearchParams): Reply {
  const user = form.get('other_account')?.trim() || form.get('account')
  if (!user) return denied(request)
  const { email } = state.accounts.get(user)
  if (form.get('decision') === 'search') return askPerson(state, request, form, email)
  if (form.get('decision') !== 'allow') return denied(request)
  return granted(state, request, {
    user: email,
    scopes: form.getAll('granted_scope'),
    files: ticksIn(form, email),
  })
}

function decideByItself(state: OAuthState, request: AuthorizationRequest): Reply {
  const { user, scopes, deny, pick } = state.autoConsent ?? {}
  if (deny) return denied(request)
  const chosen = user ?? request.loginHint ?? state.accounts.all()[0]?.email ?? 'ada@example.com'
  const { email } = state.accounts.get(chosen)
  const isPicked = ({ spreadsheetId, title }: ShownFile): boolean =>
    Array.isArray(pick) ? pick.includes(title) || pick.includes(spreadsheetId) : pick === true
  const files = filesOffered(state, request, email).filter(isPicked)
  return granted(state, request, {
    user: email,
    scopes: scopes ?? request.scopes,
    files: files.map(({ spreadsheetId }) => spreadsheetId),
  })
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

function filesOffered(state: OAuthState, { picking }: AuthorizationRequest, email: string): ShownFile[] {
  return picking ? filesToPick(state.files, email, picking) : []
}

function accountsOffered(state: OAuthState, request: AuthorizationRequest): OfferedAccount[] {
  return state.accounts
    .all()
    .map(({ email, name }) => ({ email, name, files: filesOffered(state, request, email) }))
}

function granted(state: OAuthState, request: AuthorizationRequest, decision: Decision): Reply {
  const { user, scopes, files } = decision
  const { email } = state.accounts.get(user)
  const allowed = request.scopes.filter((scope) => scopes.includes(scope))
  if (allowed.length === 0) return denied(request)
  const picked = pickFiles(state, request, email, files)
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
  return goBack(request, {
    ...(picked.length > 0 ? { picked_file_ids: picked.join(',') } : {}),
    code,
    scope: all.join(' '),
    authuser: '0',
    prompt: 'consent',
  })
}

/** What was picked before stays picked: this only adds. */
function pickFiles(
  state: OAuthState,
  request: AuthorizationRequest,
  email: string,
  wanted: string[],
): string[] {
  const offered = filesOffered(state, request, email).map(({ spreadsheetId }) => spreadsheetId)
  const chosen = offered.filter((id) => wanted.includes(id))
  const picked = request.picking?.allowsSeveral ? chosen : chosen.slice(0, 1)
  const project = projectNumberOf(request.clientId)
  for (const file of picked) state.files.pick(email, file, project)
  return picked
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
