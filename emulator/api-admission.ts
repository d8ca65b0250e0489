import { acceptableScopes, driveFileScope, rpcName } from './api-method.ts'
import type { Emulation } from './emulation.ts'
import type { CallFacts } from './faults/call-match.ts'
import {
  type GoogleErrorBody,
  insufficientScopes,
  quotaExceeded,
  type Service,
  serviceDisabled,
  unauthenticated,
  unregisteredCaller,
} from './front-end-errors.ts'
import { projectNumberOf } from './oauth/clients.ts'
import type { AccessToken } from './oauth/grants.ts'

const realm = 'Bearer realm="https://accounts.google.com/"'

export type Admission =
  | { admitted: true; user: string; projectNumber: string; onlyPicked: boolean }
  | { admitted: false; body: GoogleErrorBody; headers: Record<string, string> }

/** What Google's front end decides before the service is asked: who, allowed what, how often. */
export function admitApiCall(
  emulation: Emulation,
  service: Service,
  call: CallFacts,
  bearer: string | undefined,
): Admission {
  if (bearer === undefined) return refuse(unregisteredCaller(service))
  const method = rpcName(service, call.method, call.path)
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

  if (emulation.settings.quotas && call.kind !== 'other') {
    const { kind } = call
    const exhausted = emulation.quotas.take(
      { kind, user: token.user, projectNumber },
      emulation.settings.quotas,
    )
    if (exhausted) return refuse(quotaExceeded(exhausted))
  }
  const onlyPicked = accepted.every((scope) => scope === driveFileScope)
  return { admitted: true, user: token.user, projectNumber, onlyPicked }
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
