import type { Admission } from '../admission/admit.ts'
import { Refusal } from '../errors.ts'
import { type Exchange, noteAdmission } from './request/exchange.ts'
import { presentedKeyHash } from './request/presented-key.ts'
import { parseParameters, readableParameters } from './request/query.ts'
import { type Reply, writeHeaders } from './response/reply.ts'

/** `GET /v1/sheets`: the sheets that the key has access to, and what it can do there. */
export async function listSheets(exchange: Exchange, admission: Admission): Promise<Reply | Refusal> {
  const { request, query, clientAddress } = exchange
  const parameters = parseParameters(query)
  const keyHash = presentedKeyHash(
    request,
    parameters instanceof Refusal ? readableParameters(query) : parameters,
  )
  const call = { keyHash, origin: request.headers.origin ?? null }
  const pass = noteAdmission(exchange, await admission.admitToAccount(call, clientAddress))
  if (pass instanceof Refusal) return pass
  if (parameters instanceof Refusal) return parameters
  const data = pass.sheets.map(({ id, slug, access, paused }) => ({
    id,
    slug,
    access,
    paused,
    url: `/v1/sheets/${id}`,
  }))
  const meta = { total: data.length, count: data.length, may: pass.may }
  const body = JSON.stringify({ data, meta })
  return { status: 200, base: writeHeaders, headers: [], body }
}
