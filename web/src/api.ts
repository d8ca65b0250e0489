import type { ApiRefusal } from '../../src/dashboard/contract.ts'
import { basePath } from './base-path.ts'

/** The owner's API said no; `field` names the input it is about. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly field: string | null

  constructor(status: number, { error }: ApiRefusal) {
    super(error.message)
    this.status = status
    this.code = error.code
    this.field = error.field ?? null
  }
}

const unreachable: ApiRefusal = {
  error: { code: 'unreachable', message: 'Rowport cannot be reached. Check your connection and try again.' },
}

export function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return call<Answer>('GET', path, undefined, signal)
}

export function send<Answer>(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  input?: unknown,
): Promise<Answer> {
  return call<Answer>(method, path, input === undefined ? undefined : JSON.stringify(input))
}

/** A file goes as its bytes. */
export function upload<Answer>(path: string, file: File): Promise<Answer> {
  return call<Answer>('POST', path, file)
}

async function call<Answer>(
  method: string,
  path: string,
  body: BodyInit | undefined,
  signal?: AbortSignal,
): Promise<Answer> {
  const headers = new Headers(method === 'GET' ? {} : { 'X-Rowport-Dashboard': '1' })
  if (typeof body === 'string') headers.set('Content-Type', 'application/json')
  const response = await fetch(`${basePath}/dashboard/api${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new Refused(0, unreachable)
  })
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok) return answer as Answer
  throw new Refused(response.status, isRefusal(answer) ? answer : unreachable)
}

function isRefusal(answer: unknown): answer is ApiRefusal {
  return typeof answer === 'object' && answer !== null && 'error' in answer
}
