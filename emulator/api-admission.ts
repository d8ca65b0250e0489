import { acceptableScopes, driveFileScope, rpcName } from './api-method.ts'
import type { Emulation } from './emulation.ts'
import type { CallFacts } from './faults/call-match.ts'
import {
  apiKeyInvalid,
  type GoogleErrorBody,
  insufficientScopes,
  keyAssertsNobody,
  quotaExceeded,
  type Service,
  serviceDisabled,
  unauthenticated,
  unregisteredCaller,
} from './front-end-errors.ts'
import { projectNumberOf } from './oauth/clients.ts'
import type { AccessToken } from './oauth/grants.ts'

const realm = 'Bearer realm="https://accounts.google.com/"'

/** Who calls with an API key: sees what everybody sees. */
const NOBODY = ''
const keysProject = projectNumberOf('api-key')

export type Admission =
  | { admitted: true; user: string; projectNumber: string; onlyPicked: boolean }
  | { admitted: false; body: GoogleErrorBody; headers: Record<string, string> }

/** What Google's front end decides before the service is asked: who, allowed what, how often. */
export function admitApiCall(
  emulation: Emulation,
  service: Service,
  call: CallFacts,
  { bearer, apiKey }: { bearer: string | undefined; apiKey: string | undefined },
): Admission {
  const method = rpcName(service, call.method, call.path)
  if (bearer === undefined) {
    if (apiKey === undefined || service !== 'sheets') return refuse(unregisteredCaller(service))
    if (!emulation.oauth.apiKeys.knows(apiKey)) return refuse(apiKeyInvalid(service))
    if (emulation.settings.disabledServices.includes(service))
      return refuse(serviceDisabled(service, keysProject))
    if (needs(service, call) === 'write') return refuse(keyAssertsNobody(service, method))
    return withinRations(emulation, call, { user: NOBODY, projectNumber: keysProject, onlyPicked: false })
  }
  const token = emulation.oauth.grants.findAccessToken(bearer)
  if (!token || token.revoked || emulation.oauth.grants.isExpired(token)) {
    return refuse(unauthenticated(service, method, isPlainlyExpired(emulation, token)), {
      'WWW-Authenticate': `${realm}, error="invalid_token"`,
    })
  }

  const projectNumber = projectNumberOf(token.clientId)
  if (emulation.settings.disabledServices.includes(service))
    return refuse(serviceDisabled(service, projectNumber))

  const scopes = acceptableScopes(service, needs(service, call))
  const accepted = token.scopes.filter((scope) => scopes.includes(scope))
  if (accepted.length === 0) {
    return refuse(insufficientScopes(service, method), {
      'WWW-Authenticate': `${realm}, error="insufficient_scope", scope="${scopes.join(' ')}"`,
    })
  }

  const onlyPicked = accepted.every((scope) => scope === driveFileScope)
  return withinRations(emulation, call, { user: token.user, projectNumber, onlyPicked })
}

function withinRations(
  emulation: Emulation,
  { kind }: CallFacts,
  who: { user: string; projectNumber: string; onlyPicked: boolean },
): Admission {
  if (emulation.settings.quotas && kind !== 'other') {
    const { user, projectNumber } = who
    const exhausted = emulation.quotas.take({ kind, user, projectNumber }, emulation.settings.quotas)
    if (exhausted) return refuse(quotaExceeded(exhausted))
  }
  return { admitted: true, ...who }
}

function isPlainlyExpired(emulation: Emulation, token: AccessToken | undefined): boolean {
  return token !== undefined && !token.revoked && emulation.oauth.grants.isExpired(token)
}

function needs(service: Service, call: CallFacts): 'read' | 'write' {
  if (service === 'sheets') return call.kind === 'write' ? 'write' : 'read'
  return call.method === 'GET' || call.method === 'HEAD' ? 'read' : 'write'
}

function refuse(body: GoogleErrorBody, headers: Record<string, string> = {}): Admission {
  return { admitted: false, body, headers }
}
