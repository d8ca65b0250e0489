import type { IncomingMessage } from 'node:http'
import type { AskInside, InnerAnswer, InnerRequest } from '../http/asking-inside.ts'
import { parseTarget } from '../http/target.ts'
import type { Soon } from '../soon.ts'

/** The API as an agent's tools use it: nothing here judges or limits anything, and every call is one of the account's requests. */
export interface SheetsApi {
  /** Wherever it stands in the request; null where there is none. Whether it is a good one, the API says. */
  key: string | null
  /** Whether the API was asked anything: it counts what it is asked. */
  hasAsked(): boolean
  listSheets(): Promise<Listed | Failure>
  /** The id of a sheet by id or by name. */
  idOf(sheet: string): Promise<string | Failure>
  /** Text of up to `maxBytes`; what comes after is not made. */
  read(path: string, parameters: Parameters, maxBytes: number): Promise<Told | Failure>
  write(asked: WriteAsked): Promise<Told | Failure>
  /** The bytes of an answer that goes on. */
  follow(path: string): Promise<AsyncIterable<Uint8Array> | Failure>
  /** What the last answer said of limits, by names of headers. */
  limits(): ReadonlyMap<string, string>
  /** Before what takes longer than a moment: a call is one of many things that this thread does. */
  nextTurn(): Soon<void>
}

export type Parameters = readonly (readonly [name: string, value: string])[]

export interface WriteAsked {
  method: 'POST' | 'PATCH' | 'DELETE'
  path: string
  parameters: Parameters
  body?: unknown
  /** A call that repeats this id is done once. */
  requestId?: string | undefined
  maxBytes: number
}

export interface Told {
  headers: ReadonlyMap<string, string>
  text: string
  /** Whether that was all. */
  isWhole: boolean
  /** What the answer to a write ends with, also where it is not whole: its figures stand behind the rows. Of a read, nothing. */
  end: string
}

export interface ListedSheet {
  id: string
  slug: string
  access: string
  paused: boolean
}

export interface Listed {
  sheets: ListedSheet[]
  may: readonly string[]
}

/** A refusal as the API gave it, in either form. */
export class Failure {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly details: string | null
  /** The API names columns in its details, and those were typed by others. */
  readonly mayQuoteCells: boolean
  readonly retryAfterSeconds: number | null

  constructor(
    facts: Pick<Failure, 'status' | 'code' | 'message'> &
      Partial<Pick<Failure, 'details' | 'mayQuoteCells' | 'retryAfterSeconds'>>,
  ) {
    this.status = facts.status
    this.code = facts.code
    this.message = facts.message
    this.details = facts.details ?? null
    this.mayQuoteCells = facts.mayQuoteCells ?? false
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null
  }
}

/** Whoever asked is gone, so there is nobody left to answer. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone'
}

/** As much as fits into an address, which is what others ask by: a search takes as long as its text. */
const mostAsked = 16_000
const mostOfRefusal = 64 * 1024
const mostOfList = 1024 * 1024
/** Enough for the numbers of all rows that one call may write. */
const endOfWriteBytes = 64 * 1024

export interface SheetsApiParts {
  askInside: AskInside
  /** Whoever asks. */
  from: IncomingMessage
  /** Says when the agent wants no more: what it follows then ends, also where its connection stays. */
  left: AbortSignal
  nextTurn(): Soon<void>
}

export function createSheetsApi({ askInside, from, left, nextTurn }: SheetsApiParts): SheetsApi {
  const keyInAddress = apiKeyIn(from.url ?? '')
  const limits = new Map<string, string>()
  let hasAsked = false

  return {
    key: presentedKey(),
    hasAsked: () => hasAsked,
    listSheets,
    async idOf(sheet) {
      if (/^sh_\w+$/.test(sheet)) return sheet
      const listed = await listSheets()
      if (listed instanceof Failure) return listed
      const found = listed.sheets.find(({ slug }) => slug === sheet)
      if (found) return found.id
      const names = listed.sheets.map(({ slug }) => slug).join(', ')
      const details =
        names === '' ? 'This key has no access to any sheet.' : `There are: ${names.slice(0, 2_000)}.`
      return new Failure({
        status: 404,
        code: 'sheet_not_found',
        message: `There is no sheet ${sheet.slice(0, 100)}.`,
        details,
      })
    },
    async read(path, parameters, maxBytes) {
      const answer = await ask({ method: 'GET', path, parameters })
      return answer instanceof Failure ? answer : readBounded(answer, maxBytes)
    },
    async write({ method, path, parameters, body, requestId, maxBytes }) {
      const headers = requestId === undefined ? {} : { 'idempotency-key': requestId }
      const json = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await ask({ method, path, parameters, headers, ...json })
      return answer instanceof Failure ? answer : readBounded(answer, maxBytes, endOfWriteBytes)
    },
    async follow(path) {
      const headers = { accept: 'text/event-stream' }
      const answer = await ask({ method: 'GET', path, parameters: [], headers, left })
      return answer instanceof Failure ? answer : answer.chunks
    },
    limits: () => limits,
    nextTurn,
  }

  function presentedKey(): string | null {
    const { authorization, 'x-api-key': inHeader } = from.headers
    const given = [keyInAddress, authorization, inHeader].filter((key) => key !== null && key !== undefined)
    return given.length === 0 ? null : given.join('\n')
  }

  async function listSheets(): Promise<Listed | Failure> {
    const answer = await ask({ method: 'GET', path: '/v1/sheets', parameters: [] })
    if (answer instanceof Failure) return answer
    const { text } = await readBounded(answer, mostOfList)
    const { data, meta } = JSON.parse(text) as { data: ListedSheet[]; meta: { may: string[] } }
    return { sheets: data, may: meta.may }
  }

  async function ask({
    path,
    parameters,
    ...rest
  }: Omit<InnerRequest, 'from' | 'url'> & { path: string; parameters: Parameters }): Promise<
    InnerAnswer | Failure
  > {
    if (parameters.reduce((sum, [name, value]) => sum + name.length + value.length, 0) > mostAsked)
      return new Failure({
        status: 400,
        code: 'invalid_query',
        message: `Conditions, texts and names may have ${mostAsked} characters together.`,
      })
    const query = new URLSearchParams(parameters.map(([name, value]) => [name, value]))
    if (keyInAddress !== null) query.set('api_key', keyInAddress)
    const url = query.size > 0 ? `${path}?${query}` : path
    hasAsked = true
    // Nothing of what is asked here comes by a socket, which would be looked at between one answer and the next.
    await nextTurn()
    const answer = await askInside({ ...rest, from, url })
    if (answer === null) throw new CallerGone('The caller went away')
    for (const [name, value] of answer.headers)
      if (/^x-(?:ratelimit|quota)-/.test(name)) limits.set(name, value)
    return answer.status < 300 ? answer : failureIn(answer)
  }
}

function apiKeyIn(url: string): string | null {
  const { query } = parseTarget(url)
  return query === null ? null : new URLSearchParams(query).get('api_key')
}

async function readBounded({ headers, chunks }: InnerAnswer, maxBytes: number, endBytes = 0): Promise<Told> {
  const taken: Uint8Array[] = []
  let end: Uint8Array = new Uint8Array()
  let bytes = 0
  for await (const chunk of chunks) {
    const room = Math.max(0, maxBytes - bytes)
    taken.push(chunk.subarray(0, room))
    bytes += chunk.byteLength
    if (endBytes > 0) end = Buffer.concat([end, chunk.subarray(-endBytes)]).subarray(-endBytes)
    else if (bytes > maxBytes) break
  }
  // Half a character at the end is none.
  const decoded = new TextDecoder().decode(Buffer.concat(taken))
  const text = decoded.endsWith('\ufffd') ? decoded.slice(0, -1) : decoded
  return { headers, text, isWhole: bytes <= maxBytes, end: new TextDecoder().decode(end) }
}

async function failureIn(answer: InnerAnswer): Promise<Failure> {
  const { status } = answer
  const { text } = await readBounded(answer, mostOfRefusal)
  const { error, code, details } = JSON.parse(text) as {
    error: string | { code: string; message: string; details?: unknown }
    code?: string
    details?: unknown
  }
  const nested = typeof error === 'string' ? { code: code ?? '', message: error, details } : error
  const retryAfter = answer.headers.get('retry-after')
  return new Failure({
    ...{ status, code: nested.code, message: nested.message },
    details: nested.details === undefined ? null : inWords(nested.details),
    mayQuoteCells: true,
    retryAfterSeconds: retryAfter === undefined ? null : Number(retryAfter),
  })
}

function inWords(details: unknown): string {
  return typeof details === 'string' ? details : JSON.stringify(details)
}
