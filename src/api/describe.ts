import { hash } from 'node:crypto'
import type { SheetAddress } from '../admission/judge.ts'
import { Refusal } from '../errors.ts'
import { acceptedCoding } from '../http/content-coding.ts'
import type { KeptBodies } from '../sheets/reading/held-snapshots.ts'
import { columnKindsOf } from '../sheets/rows/query/columns/column-summary.ts'
import { orderedJsonText } from '../sheets/rows/schema/ordered-json.ts'
import { rowSchema } from '../sheets/rows/schema/row-schema.ts'
import { rowTypesText, typeNameOf } from '../sheets/rows/schema/row-types.ts'
import type { IndexedSnapshot } from '../sheets/rows/snapshot.ts'
import { type Column, positionOfColumn } from '../sheets/rows/table.ts'
import { type Soon, then } from '../soon.ts'
import { apiDocument, sheetDocument } from './openapi/documents.ts'
import { asksForNow, forPublicReader } from './read-rows.ts'
import type { Exchange } from './request/exchange.ts'
import { parseReadWish } from './request/read-wish.ts'
import { pathOf } from './request/routes.ts'
import { type AdmittedCall, type ApiParts, admitRows, type RowsRequest } from './request/rows-request.ts'
import { etagOf, variantHeld, variantOf } from './response/etag.ts'
import { notModified, originHeaders } from './response/origin-headers.ts'
import { notModifiedHeaders, type Reply, readHeaders } from './response/reply.ts'
import { sendableBody } from './response/sendable-body.ts'

/** `…/schema`, `…/openapi.json` and `…/types.ts` of a sheet. They tell of its rows, so they are reads like any other. */
export async function describeSheet(
  asked: RowsRequest,
  what: Description,
  parts: ApiParts,
): Promise<Reply | Refusal> {
  const pass = await admitRows(asked, parts, { intent: 'read', pageRight: 'read' })
  if (pass instanceof Refusal) return pass
  const reply = await descriptionReply(asked, pass, what, parts)
  return pass.key === null ? forPublicReader(reply, pass.sheet) : reply
}

async function descriptionReply(
  asked: RowsRequest,
  { sheet: facts, parameters, account, view }: AdmittedCall,
  what: Description,
  parts: ApiParts,
): Promise<Reply | Refusal> {
  const wish = parseReadWish(parameters, what === 'types' ? 'types' : 'description')
  if (wish instanceof Refusal) return wish
  if (facts.needsReconnect) return new Refusal('token_expired')

  const { request } = asked.exchange
  const { values, rowNumbers } = wish
  const mustAskProvider = view === 'everything' && asksForNow(request)
  const accountId = account.id
  const sheet = await parts.reading.read(facts, view, { values, mustAskProvider, accountId })
  if (sheet instanceof Refusal) return sheet
  const { snapshot, source } = sheet
  if (snapshot.columns.length === 0) return new Refusal('missing_headers')

  const described: Described = {
    what,
    address: asked.address,
    rowNumbers,
    isPublic: facts.access === 'public-read',
    baseUrl: parts.ownAddress(request),
    keyColumn: nameInRow1(facts.keyColumn, snapshot.columns),
    isKeyMade: facts.autoKey === 'uuid',
  }
  const name = nameOf(described)
  const etag = etagOf(hash('sha256', `${name} ${snapshot.contentHash}`, 'base64url').slice(0, 22))
  const coding = acceptedCoding(request.headers['accept-encoding'])
  const held = variantHeld(request.headers['if-none-match'], etag, 'json', coding)
  if (held !== null) return notModified(held, sheet)
  const indexed = await sheet.indexed
  const { bodies } = sheet
  const text = await describeOnce(described, indexed, bodies, () => parts.turns.next(accountId))
  const made = await sendableBody(
    {
      name,
      isWhole: true,
      chunks: [text],
      sources: [text],
      coding,
      bodies,
      isHead: request.method === 'HEAD',
      accountId,
      onFailure: () => {},
    },
    parts,
  )
  const headers = originHeaders(variantOf(etag, 'json', made.coding), sheet)
  if (made.coding !== null) headers.push('Content-Encoding', made.coding)
  return { status: 200, base: readHeaders[headersOf[what]], headers, body: made.body, rowsFrom: source }
}

const headersOf = { schema: 'schema', openapi: 'json', types: 'text' } as const

/** As it is written there now; null where it is not there. */
function nameInRow1(keyColumn: string | null, columns: readonly Column[]): string | null {
  const position = keyColumn === null ? null : positionOfColumn(columns, keyColumn)
  return position === null ? null : (columns[position]?.key ?? null)
}

type Description = 'schema' | 'openapi' | 'types'

/** What a description depends on, beside the rows. */
export interface Described {
  what: Description
  address: SheetAddress
  rowNumbers: boolean
  isPublic: boolean
  baseUrl: string
  /** null where rows have no names. */
  keyColumn: string | null
  /** A row that is added without a key gets one. */
  isKeyMade: boolean
}

function nameOf({ what, address, rowNumbers, isPublic, baseUrl, keyColumn, isKeyMade }: Described) {
  return `${what} ${baseUrl}${pathOf(address)} ${rowNumbers} ${isPublic} ${isKeyMade} ${JSON.stringify(keyColumn)}`
}

/**
 * Made once for each snapshot, and kept with it. What is long in it was made by the thread that read the sheet; the rest takes a
 * few milliseconds on 2,000 columns (docs/decisions/019).
 */
async function describeOnce(
  described: Described,
  snapshot: IndexedSnapshot,
  bodies: KeptBodies,
  nextTurn: () => Soon<void>,
): Promise<Uint8Array> {
  const name = nameOf(described)
  const [kept] = bodies.get(name) ?? []
  if (kept) return kept
  await nextTurn()
  const made = Buffer.from(descriptionOf(described, snapshot))
  bodies.keep(name, [made])
  return made
}

function descriptionOf(described: Described, snapshot: IndexedSnapshot): string {
  const { what, address, rowNumbers, keyColumn, isKeyMade } = described
  if (what === 'openapi') return sheetDocument(described, snapshot)
  if (what === 'types') {
    const name = address.form === 'a' ? typeNameOf(address.sheetSlug) : 'Sheet'
    const { columns } = snapshot
    const kinds = columnKindsOf(snapshot)
    return rowTypesText({ path: pathOf(address), name, columns, kinds, keyColumn, isKeyMade, rowNumbers })
  }
  return orderedJsonText({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `A row of ${pathOf(address)}`,
    ...rowSchema(snapshot.description, rowNumbers),
    // By whose values rows are named.
    ...(keyColumn !== null && { 'x-key': keyColumn }),
  })
}

/** `/openapi.json`: the same for everyone, without a key. */
export function describeApi({ request }: Exchange, parts: ApiParts): Soon<Reply> {
  const { text, etag, bodies } = apiText(parts.ownAddress(request))
  const coding = acceptedCoding(request.headers['accept-encoding'])
  const held = variantHeld(request.headers['if-none-match'], etag, 'json', coding)
  if (held !== null) return { status: 304, base: notModifiedHeaders, headers: ['ETag', held], body: null }
  const made = sendableBody(
    {
      name: 'api',
      isWhole: true,
      chunks: [text],
      sources: [text],
      coding,
      bodies,
      isHead: request.method === 'HEAD',
      accountId: everyone,
      onFailure: () => {},
    },
    parts,
  )
  return then(made, ({ body, coding: used }) => {
    const headers = ['ETag', variantOf(etag, 'json', used)]
    if (used !== null) headers.push('Content-Encoding', used)
    return { status: 200, base: readHeaders.json, headers, body }
  })
}

/** Stands for all, where turns are counted by account; no account is called so. */
const everyone = ''

interface ApiText {
  text: Uint8Array
  etag: string
  /** One text in few codings: nothing that could grow. */
  bodies: KeptBodies
}

/** One for each address at which this server is reached; what strangers make up is soon forgotten. */
const apiTexts = new Map<string, ApiText>()
const maxApiTexts = 4

function apiText(baseUrl: string): ApiText {
  const known = apiTexts.get(baseUrl)
  if (known) return known
  const text = Buffer.from(apiDocument(baseUrl))
  const kept = new Map<string, readonly Uint8Array[]>()
  const made: ApiText = {
    text,
    etag: etagOf(hash('sha256', text, 'base64url').slice(0, 22)),
    bodies: {
      bytes: 0,
      get: (name) => kept.get(name),
      keep: (name, pieces) => void kept.set(name, pieces),
    },
  }
  const [oldest] = apiTexts.keys()
  if (oldest !== undefined && apiTexts.size >= maxApiTexts) apiTexts.delete(oldest)
  apiTexts.set(baseUrl, made)
  return made
}
