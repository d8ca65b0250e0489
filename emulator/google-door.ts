import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { admitApiCall } from './api-admission.ts'
import { apiMethodName, isUpload, serviceOf } from './api-method.ts'
import type { LoggedCall } from './call-log.ts'
import { exportTypes } from './drive/export-csv.ts'
import type { Emulation } from './emulation.ts'
import type { CallFacts } from './faults/call-match.ts'
import { type Fault, faultsInstead, faultsLate, strikes } from './faults/fault.ts'
import { replyOfFault } from './faults/fault-reply.ts'
import { deliverSpoilt } from './faults/spoilt-delivery.ts'
import { badJsonPayload, type Service, withLegacyErrors } from './front-end-errors.ts'
import {
  driveHeaders,
  frontEndNotFound,
  type JsonAnswer,
  jsonReply,
  oauthHeaders,
  type Reply,
  replyOf,
  sheetsHeaders,
} from './http/reply.ts'
import { formParameters, parseJson, readBody } from './http/request-body.ts'
import { send } from './http/send.ts'
import { projectNumberOf } from './oauth/clients.ts'
import { findOAuthRoute } from './oauth/oauth-routes.ts'
import { bearerOf } from './oauth/token-questions.ts'

export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  method: string
  path: string
  query: URLSearchParams
}

interface Prepared {
  headers: Record<string, string>
  projectNumber: string
  /** Set when the front end refuses: then nothing is applied and no fault strikes. */
  refused?: Reply
  apply(): Reply | JsonAnswer
}

/** One call to Google, from its arrival to the last byte of its answer, or to the loss of it. */
export async function answerGoogleCall(emulation: Emulation, exchange: Exchange): Promise<void> {
  const { request, response } = exchange
  const call = describe(emulation, exchange)
  const logged = emulation.calls.begin(call, call.service === 'oauth' ? '' : exchange.query.toString())
  const text = await readBody(request)
  await halfOfLatency(emulation, call)

  const prepared = prepare(emulation, exchange, call, text)
  if (prepared.refused) return finish(exchange, logged, prepared.refused)
  if (serviceOf(call.path)) {
    logged.problems = [...emulation.lateChanges.arrive(call), ...emulation.edits.arrive(call)]
  }

  const fault = emulation.faults.strike(call)
  const reply = await replyOf(
    fault ? applyUnderFault(emulation, fault, call, prepared, logged) : applyNow(prepared, logged),
  )
  await halfOfLatency(emulation, call)
  if (!fault) return finish(exchange, logged, reply)
  logged.fault = fault.kind
  const answered = await deliverSpoilt(fault, { request, response, reply })
  if (answered) logged.status = reply.status
}

function describe({ oauth, world }: Emulation, { request, method, path, query }: Exchange): CallFacts {
  const service = serviceOf(path) ?? (findOAuthRoute(method, path) ? 'oauth' : 'none')
  const bearer = bearerOf(query, request.headers.authorization ?? '')
  const user = bearer === undefined ? undefined : oauth.grants.findAccessToken(bearer)?.user
  const writes = service === 'sheets' ? world.isWrite({ method, path }) : null
  const name = apiMethodName(method, path)
  return { method, path, name, service, kind: writes === null ? 'other' : writes ? 'write' : 'read', user }
}

function prepare(
  emulation: Emulation,
  exchange: Exchange,
  call: CallFacts,
  text: string | undefined,
): Prepared {
  const service = serviceOf(call.path)
  if (service) return prepareApiCall(emulation, exchange, service, call, text ?? '')
  const { request, method, path, query } = exchange
  const route = findOAuthRoute(method, path)
  const parameters = formParameters(query, request.headers['content-type'] ?? '', text ?? '')
  const authorization = request.headers.authorization ?? ''
  return {
    headers: oauthHeaders,
    projectNumber: projectNumberOf(parameters.get('client_id') ?? ''),
    apply: () =>
      route?.(emulation.oauth, {
        method,
        parameters,
        authorization,
        origin: `http://${request.headers.host}`,
      }) ?? frontEndNotFound(path),
  }
}

function prepareApiCall(
  emulation: Emulation,
  { request, method, path, query }: Exchange,
  service: Service,
  call: CallFacts,
  text: string,
): Prepared {
  const headers = service === 'sheets' ? sheetsHeaders : driveHeaders
  const pretty = query.get('prettyPrint') !== 'false'
  const legacy =
    /\bgdcl\//.test(String(request.headers['x-goog-api-client'] ?? '')) || query.get('$.xgafv') === '1'
  const refuse = (projectNumber: string, status: number, body: unknown, more = {}): Prepared => {
    const json = legacy ? withLegacyErrors(body) : body
    const refused = jsonReply(status, json, { ...headers, ...more }, pretty)
    return { headers, projectNumber, refused, apply: () => refused }
  }

  const admission = admitApiCall(emulation, service, call, {
    bearer: bearerOf(query, request.headers.authorization ?? ''),
    apiKey: query.get('key') || request.headers['x-goog-api-key']?.toString() || undefined,
  })
  if (!admission.admitted) return refuse('', admission.body.error.code, admission.body, admission.headers)
  const { user, projectNumber, onlyPicked } = admission
  const mimeType = request.headers['content-type'] ?? ''
  const media = isUpload(path) ? { media: { mimeType, text } } : {}
  const parsed = isUpload(path) ? { value: undefined } : parseJson(text)
  if (!parsed) return refuse(projectNumber, 400, badJsonPayload())
  return {
    headers,
    projectNumber,
    apply() {
      const { status, body } = emulation.world.call({
        method,
        path,
        query,
        body: parsed.value,
        ...media,
        user,
        project: projectNumber,
        onlyPicked,
        strictValidation: emulation.settings.strictValidation,
      })
      if (typeof body === 'string') return { status, headers: textHeaders(headers, query), body }
      return { status, headers, json: legacy ? withLegacyErrors(body) : body, pretty }
    },
  }
}

function textHeaders(headers: Record<string, string>, query: URLSearchParams): Record<string, string> {
  const type = query.get('mimeType') ?? exportTypes[query.get('format') ?? '']
  return { ...headers, 'Content-Type': type ?? 'text/plain' }
}

function applyNow(prepared: Prepared, logged: LoggedCall): Reply | JsonAnswer {
  const reply = prepared.apply()
  logged.applied = reply.status < 400
  return reply
}

function applyUnderFault(
  emulation: Emulation,
  fault: Fault,
  call: CallFacts,
  prepared: Prepared,
  logged: LoggedCall,
): Reply | JsonAnswer {
  const nothing: Reply = { status: 200, headers: prepared.headers, body: '' }
  const inItsPlace = replyOfFault(fault, call, prepared.projectNumber, prepared.headers)
  if (strikes(faultsInstead, fault)) return inItsPlace ?? nothing
  if (strikes(faultsLate, fault)) {
    const applyLate = (): void => {
      logged.lateStatus = applyNow(prepared, logged).status
    }
    if (fault.beforeCall === undefined) setTimeout(applyLate, fault.delayMs).unref()
    else emulation.lateChanges.schedule(fault.beforeCall, {}, applyLate)
    return nothing
  }
  const applied = applyNow(prepared, logged)
  return inItsPlace ?? applied
}

async function finish({ request, response }: Exchange, logged: LoggedCall, reply: Reply): Promise<void> {
  logged.status = reply.status
  await send(request, response, reply)
}

/** Half before the change and half after: a client that stops waiting cannot know which half it was in. */
async function halfOfLatency({ settings }: Emulation, { kind }: CallFacts): Promise<void> {
  const { minMs, maxMs } = settings.latencyMs[kind]
  if (maxMs > 0) await sleep((minMs + Math.random() * (maxMs - minMs)) / 2)
}
