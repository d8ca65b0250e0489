import { hash } from 'node:crypto'
import type { SheetAddress } from '../admission/judge.ts'
import { Refusal } from '../errors.ts'
import { compressedFromBytes } from '../http/compression.ts'
import { acceptedCoding, type Coding } from '../http/content-coding.ts'
import type { KeptBodies } from '../sheets/reading/held-snapshots.ts'
import { columnKindsOf } from '../sheets/rows/query/columns/column-summary.ts'
import { orderedJsonText } from '../sheets/rows/schema/ordered-json.ts'
import { rowSchema } from '../sheets/rows/schema/row-schema.ts'
import { rowTypesText, typeNameOf } from '../sheets/rows/schema/row-types.ts'
import type { IndexedSnapshot } from '../sheets/rows/snapshot.ts'
import { type Column, positionOfColumn } from '../sheets/rows/table.ts'
import { type Soon, then } from '../soon.ts'
import { apiDocument, sheetDocument } from './openapi/documents.ts'
import { aroundOpenAddress, withAddress } from './openapi/open-address.ts'
import { asksForNow, forPublicReader } from './read-rows.ts'
import type { Exchange } from './request/exchange.ts'
import { parseReadWish } from './request/read-wish.ts'
import { pathOf } from './request/routes.ts'
import { type AdmittedCall, type ApiParts, admitRows, type RowsRequest } from './request/rows-request.ts'
import { etagOf, variantHeld, variantOf } from './response/etag.ts'
import { notModified, originHeaders } from './response/origin-headers.ts'
import { notModifiedHeaders, type Reply, readHeaders } from './response/reply.ts'
import { type SendableBody, sendableBody } from './response/sendable-body.ts'

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
  { sheet: facts, parameters, taker, view }: AdmittedCall,
  what: Description,
  parts: ApiParts,
): Promise<Reply | Refusal> {
  const wish = parseReadWish(parameters, what === 'types' ? 'types' : 'description')
  if (wish instanceof Refusal) return wish
  if (facts.needsReconnect) return new Refusal('token_expired')

  const { request } = asked.exchange
  const { values, rowNumbers } = wish
  const mustAskProvider = view === 'everything' && asksForNow(request)
  const sheet = await parts.reading.read(facts, view, { values, mustAskProvider, taker })
  if (sheet instanceof Refusal) return sheet
  const { snapshot, source } = sheet
  if (snapshot.columns.length === 0) return new Refusal('missing_headers')

  const described: Described = {
    what,
    address: asked.address,
    rowNumbers,
    isPublic: facts.access === 'public-read',
    keyColumn: nameInRow1(facts.keyColumn, snapshot.columns),
    isKeyMade: facts.autoKey === 'uuid',
  }
  const baseUrl = parts.ownAddress(request)
  // The others name the sheet by its path.
  const name = what === 'openapi' ? `${nameOf(described)} ${baseUrl}` : nameOf(described)
  const etag = etagOf(hash('sha256', `${name} ${snapshot.contentHash}`, 'base64url').slice(0, 22))
  const coding = acceptedCoding(request.headers['accept-encoding'])
  const held = variantHeld(request.headers['if-none-match'], etag, 'json', coding)
  if (held !== null) return notModified(held, sheet)
  const { bodies, indexed } = sheet
  const isHead = request.method === 'HEAD'
  const made = (isHead ? unmadeHead(described, snapshot.columns, bodies, coding) : null) ?? (await makeBody())
  const headers = originHeaders(variantOf(etag, 'json', made.coding), sheet)
  if (made.coding !== null) headers.push('Content-Encoding', made.coding)
  return { status: 200, base: readHeaders[headersOf[what]], headers, body: made.body, rowsFrom: source }

  async function makeBody(): Promise<SendableBody> {
    const around = await describeOnce(described, await indexed, bodies, () => parts.turns.next(taker))
    return sendableBody(
      {
        name,
        isWhole: what !== 'openapi' || isKeptAt(baseUrl, bodies),
        chunks: what === 'openapi' ? withAddress(around, baseUrl) : around,
        sources: around,
        coding,
        bodies,
        isHead,
        taker,
        onFailure: () => {},
      },
      parts,
    )
  }
}

/**
 * What the head says of a description that nobody has asked for yet: all but its length, so that it need not be made. null where it
 * is there, or so short that only its length tells whether it would be compressed.
 */
function unmadeHead(
  described: Described,
  columns: readonly Column[],
  bodies: KeptBodies,
  coding: Coding | null,
): SendableBody | null {
  if (bodies.get(nameOf(described))) return null
  if (coding === null) return { body: null, coding }
  // Every description names all columns, and the one for all programs says much of anything.
  const atLeast = columns.reduce((sum, { key }) => sum + key.length, 0)
  return described.what === 'openapi' || atLeast >= compressedFromBytes ? { body: null, coding } : null
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
  /** null where rows have no names. */
  keyColumn: string | null
  /** A row that is added without a key gets one. */
  isKeyMade: boolean
}

function nameOf({ what, address, rowNumbers, isPublic, keyColumn, isKeyMade }: Described) {
  return `${what} ${pathOf(address)} ${rowNumbers} ${isPublic} ${isKeyMade} ${JSON.stringify(keyColumn)}`
}

/** As many names as a server may have. Whoever makes up more has what is long compressed anew, and drives out nobody's. */
const mostAddressesKept = 8
const addressesKept = new WeakMap<KeptBodies, Set<string>>()

function isKeptAt(baseUrl: string, bodies: KeptBodies): boolean {
  const known = addressesKept.get(bodies) ?? new Set()
  addressesKept.set(bodies, known)
  if (known.size < mostAddressesKept) known.add(baseUrl)
  return known.has(baseUrl)
}

/**
 * Made once for each snapshot, and kept with it; where it names this server's address, as the pieces around that. What is long in it
 * was made by the thread that read the sheet; the rest takes some milliseconds on 2,000 columns (docs/decisions/019).
 */
async function describeOnce(
  described: Described,
  snapshot: IndexedSnapshot,
  bodies: KeptBodies,
  nextTurn: () => Soon<void>,
): Promise<readonly Uint8Array[]> {
  const name = nameOf(described)
  const known = bodies.get(name)
  if (known) return known
  await nextTurn()
  // Whoever asked in the same moment may have had a turn before.
  const knownByNow = bodies.get(name)
  if (knownByNow) return knownByNow
  const made = aroundOpenAddress(descriptionOf(described, snapshot))
  bodies.keep(name, made)
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
      taker: everyone,
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

/** It takes ten milliseconds to be made. */
let aroundAddress: readonly Uint8Array[] | null = null

function apiText(baseUrl: string): ApiText {
  const known = apiTexts.get(baseUrl)
  if (known) return known
  aroundAddress ??= aroundOpenAddress(apiDocument())
  const text = Buffer.concat(withAddress(aroundAddress, baseUrl))
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
