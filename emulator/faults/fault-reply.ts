import {
  driveRateLimited,
  type GoogleErrorBody,
  internalError,
  quotaExceeded,
  serviceDisabled,
  unavailable,
} from '../front-end-errors.ts'
import { frontEndError, jsonReply, type Reply } from '../http/reply.ts'
import type { CallFacts } from './call-match.ts'
import type { Fault } from './fault.ts'

/** The answer that a fault gives instead of Google's; `undefined` for those that give none. */
export function replyOfFault(
  fault: Fault,
  call: CallFacts,
  projectNumber: string,
  headers: Record<string, string>,
): Reply | undefined {
  const error = (body: GoogleErrorBody): Reply => jsonReply(body.error.code, body, headers)
  const oauthError = (status: number, name: string, text: string): Reply =>
    jsonReply(status, { error: name, error_description: text }, headers)
  const { service } = call
  const isApi = service === 'sheets' || service === 'drive'
  switch (fault.kind) {
    case '429':
      if (service === 'drive') return error(driveRateLimited())
      if (!isApi) return oauthError(429, 'rate_limit_exceeded', 'Rate Limit Exceeded')
      return error(
        quotaExceeded({
          kind: call.kind === 'write' ? 'write' : 'read',
          per: 'user',
          limit: 60,
          projectNumber,
        }),
      )
    case '500':
    case '500AfterApply':
      return isApi ? error(internalError) : oauthError(500, 'internal_failure', 'Backend Error')
    case '503':
    case '503AfterApply':
      return isApi ? error(unavailable) : oauthError(503, 'backend_error', 'Service Unavailable')
    case 'serviceDisabled':
      return error(serviceDisabled(service === 'drive' ? 'drive' : 'sheets', projectNumber))
    case 'html':
      return frontEndError(
        fault.status ?? 200,
        'Sorry…',
        'Your computer or network may be sending automated queries.',
      )
    case 'answer':
      return jsonReply(fault.status ?? 500, fault.body, headers)
    default:
      return undefined
  }
}

/** Valid JSON of the right outline, in which every field has a type that its reader does not expect. */
export function withWrongTypes(reply: Reply): Reply {
  const parsed: unknown = reply.body.length === 0 ? {} : JSON.parse(String(reply.body))
  if (typeof parsed !== 'object' || parsed === null) return { ...reply, body: '[[]]\n' }
  const wrong = Object.entries(parsed).map(([name, value]) => [name, wrongTypeOf(value)])
  return { ...reply, body: `${JSON.stringify(Object.fromEntries(wrong), null, 2)}\n` }
}

function wrongTypeOf(value: unknown): unknown {
  if (Array.isArray(value)) return { first: value[0] ?? null }
  if (typeof value === 'object' && value !== null) return [value]
  return typeof value === 'string' ? value.length : String(value)
}
