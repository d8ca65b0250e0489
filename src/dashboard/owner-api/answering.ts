import { errorBody, Refusal } from '../../errors.ts'
import { sentence } from '../../management/people/owners.ts'
import { Problem, type ProblemKind } from '../../management/problem.ts'
import type { ApiRefusal } from '../contract.ts'
import { type FileAnswer, type MadeAnswer, RawJson, type VerbOutcome } from './route.ts'

/** An outcome as it goes over the wire. */
export interface WireAnswer {
  status: number
  headers: Record<string, string>
  /** null where only the head is asked for, and it was not made. */
  body: string | null
}

const statuses: Record<ProblemKind, number> = {
  invalid: 400,
  unknown_person: 401,
  recent_sign_in_required: 403,
  not_allowed: 403,
  not_found: 404,
  taken: 409,
  too_often: 429,
  provider: 502,
  busy: 503,
}

export function onTheWire(
  outcome: Exclude<VerbOutcome, FileAnswer | MadeAnswer>,
  isHead = false,
): WireAnswer {
  if (outcome instanceof Problem) return problemOnTheWire(outcome)
  if (outcome instanceof Refusal) {
    return { status: outcome.status, headers: {}, body: JSON.stringify(refusalOf(outcome)) }
  }
  const { json, status = 200, cookie, fileName } = outcome
  return {
    status,
    headers: {
      ...(cookie !== undefined && { 'Set-Cookie': cookie }),
      ...(fileName !== undefined && { 'Content-Disposition': `attachment; filename="${fileName}"` }),
    },
    body: isHead ? null : json instanceof RawJson ? json.text : JSON.stringify(json),
  }
}

export function refusalAnswer(status: number, code: string, message: string, field?: string): WireAnswer {
  const refusal: ApiRefusal = { error: { code, message, ...(field !== undefined && { field }) } }
  return { status, headers: {}, body: JSON.stringify(refusal) }
}

function problemOnTheWire({ message, facts }: Problem): WireAnswer {
  const { kind = 'invalid', field, retryAfterSeconds } = facts
  const wire = refusalAnswer(statuses[kind], kind, sentence(message), field)
  if (retryAfterSeconds !== undefined) wire.headers['Retry-After'] = String(retryAfterSeconds)
  return wire
}

/** The public API's own words, with what helps in the same sentence. */
function refusalOf(refusal: Refusal): ApiRefusal {
  const { error } = errorBody(refusal, 'nested') as { error: { message: string } }
  const { details } = refusal.facts
  const message = sentence(error.message)
  return { error: { code: refusal.code, message: details === undefined ? message : `${message} ${details}` } }
}

/**
 * What somebody uploaded may be anything, so it is never shown: not by its type, not by what it looks like. The plain name is
 * for browsers that do not know the other (RFC 6266).
 */
export function fileHeaders({ fileName, bytes }: FileAnswer): Record<string, string | number> {
  const plain = fileName.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(fileName).replaceAll(/['()*]/g, percentEncoded)
  return {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`,
    'Content-Length': bytes,
  }
}

/** RFC 5987 allows fewer characters than `encodeURIComponent` leaves. */
function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
