import type { Emulation } from '../emulation.ts'
import type { Exchange } from '../google-door.ts'
import { jsonReply } from '../http/reply.ts'
import { parseJson, readBody } from '../http/request-body.ts'
import { send } from '../http/send.ts'
import { type ControlReply, controlRoutes, refused } from './control-routes.ts'

export const controlRoot = '/_control/'

const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' }

/** The side door for tests: never delayed, never rationed, never faulty. */
export async function answerControl(
  emulation: () => Emulation,
  reset: () => void,
  { request, response, method, path, query }: Exchange,
): Promise<void> {
  const text = (await readBody(request)) ?? ''
  const { status, body } = decide(emulation, reset, {
    method,
    path: path.slice(controlRoot.length),
    query,
    text,
    origin: `http://${request.headers.host}`,
  })
  await send(request, response, jsonReply(status, body ?? {}, headers))
}

function decide(
  emulation: () => Emulation,
  reset: () => void,
  { method, path, query, text, origin }: AskedControl,
): ControlReply {
  if (method === 'POST' && path === 'reset') {
    reset()
    return { status: 200, body: {} }
  }
  const here = controlRoutes.filter((route) => route.path.test(path))
  const route = here.find((candidate) => candidate.method === method)
  if (!route) {
    const allowed = here.map((candidate) => candidate.method).join(', ')
    return here.length > 0
      ? refused(`${controlRoot}${path} takes ${allowed}, not ${method}`, 405)
      : refused(`no such control: ${method} ${controlRoot}${path}`, 404)
  }
  const parsed = parseJson(text)
  if (!parsed) return refused('the body is not JSON')
  const open = (route.path.exec(path) ?? []).slice(1).map((part) => decodeURIComponent(part))
  return route.act(emulation(), { open, query, body: parsed.value, origin })
}

interface AskedControl {
  method: string
  path: string
  query: URLSearchParams
  text: string
  origin: string
}
