import { hash } from 'node:crypto'
import { Refusal } from '../errors.ts'
import type { KeptBodies } from '../sheets/held-snapshots.ts'
import { orderedJsonText } from '../sheets/schema/ordered-json.ts'
import { rowSchema } from '../sheets/schema/row-schema.ts'
import { type Soon, then } from '../soon.ts'
import { acceptedCoding } from './content-coding.ts'
import { etagOf, variantHeld, variantOf } from './etag.ts'
import type { Exchange } from './exchange.ts'
import { apiDocument, sheetDocument } from './openapi/documents.ts'
import { notModified, originHeaders } from './origin-headers.ts'
import { asksForNow } from './read-rows.ts'
import { parseReadWish } from './read-wish.ts'
import { notModifiedHeaders, type Reply, readHeaders } from './reply.ts'
import { pathOf } from './routes.ts'
import { type ApiParts, admitted, type RowsRequest } from './rows-request.ts'
import { type SendableBody, sendableBody } from './sendable-body.ts'

/** `…/schema` and `…/openapi.json` of a sheet. They tell of its rows, so they are reads like any other. */
export async function describeSheet(
  asked: RowsRequest,
  what: 'schema' | 'openapi',
  parts: ApiParts,
): Promise<Reply | Refusal> {
  const pass = await admitted(asked, parts, 'read')
  if (pass instanceof Refusal) return pass
  const { sheet: facts, parameters } = pass
  const wish = parseReadWish(parameters, 'description')
  if (wish instanceof Refusal) return wish
  if (facts.needsReconnect) return new Refusal('token_expired')

  const { request } = asked.exchange
  const { values, rowNumbers } = wish
  const sheet = await parts.reading.read(facts, { values, mustAskProvider: asksForNow(request) })
  const { snapshot, source } = sheet
  if (snapshot.columns.length === 0) return new Refusal('missing_headers')

  const isPublic = facts.access === 'public-read'
  const name = `${what} ${pathOf(asked.address)} ${rowNumbers} ${isPublic}`
  const etag = etagOf(hash('sha256', `${name} ${snapshot.contentHash}`, 'base64url').slice(0, 22))
  const coding = acceptedCoding(request.headers['accept-encoding'])
  const held = variantHeld(request.headers['if-none-match'], etag, 'json', coding)
  if (held !== null) return notModified(held, sheet)
  const indexed = await sheet.indexed
  const made = await keptText(name, coding, sheet.bodies, () =>
    what === 'schema'
      ? orderedJsonText({
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          title: `A row of ${pathOf(asked.address)}`,
          ...rowSchema(indexed.description, rowNumbers),
        })
      : sheetDocument(asked.address, indexed, isPublic),
  )
  const headers = originHeaders(variantOf(etag, 'json', made.coding), sheet)
  if (made.coding !== null) headers.push('Content-Encoding', made.coding)
  const base = what === 'schema' ? readHeaders.schema : readHeaders.json
  return { status: 200, base, headers, body: made.body, rowsFrom: source }
}

/** `/openapi.json`: the same for everyone, without a key. */
export function describeApi({ request }: Exchange): Soon<Reply> {
  const text = apiDocument()
  const etag = etagOf(hash('sha256', text, 'base64url').slice(0, 22))
  const coding = acceptedCoding(request.headers['accept-encoding'])
  const held = variantHeld(request.headers['if-none-match'], etag, 'json', coding)
  if (held !== null) return { status: 304, base: notModifiedHeaders, headers: ['ETag', held], body: null }
  return then(
    keptText('api', coding, bodiesOfApi, () => text),
    (made) => {
      const headers = ['ETag', variantOf(etag, 'json', made.coding)]
      if (made.coding !== null) headers.push('Content-Encoding', made.coding)
      return { status: 200, base: readHeaders.json, headers, body: made.body }
    },
  )
}

const keptOfApi = new Map<string, readonly Uint8Array[]>()
/** One text in few codings: nothing that could grow. */
const bodiesOfApi: KeptBodies = {
  bytes: 0,
  get: (name) => keptOfApi.get(name),
  keep: (name, pieces) => void keptOfApi.set(name, pieces),
}

function keptText(
  name: string,
  coding: Parameters<typeof sendableBody>[0]['coding'],
  bodies: KeptBodies,
  make: () => string,
): Soon<SendableBody> {
  return sendableBody({
    name,
    isWhole: true,
    chunks: () => [Buffer.from(make())],
    coding,
    bodies,
    onFailure: () => {},
  })
}
