import { setTimeout as sleep } from 'node:timers/promises'
import { resolveWish } from '../api/request/list-query.ts'
import { parseParameters } from '../api/request/query.ts'
import { parseReadWish } from '../api/request/read-wish.ts'
import type { ApiParts } from '../api/request/rows-request.ts'
import { warningOfKeys } from '../api/response/key-warning.ts'
import { type ListReader, listReply } from '../api/response/list-reply.ts'
import { longTextsBody } from '../api/response/long-texts-body.ts'
import { type Body, buffersOf, send } from '../api/response/reply.ts'
import type { LookingBack } from '../changes/history.ts'
import type { MadeJson, OwnerReading } from '../dashboard/dashboard-parts.ts'
import { Refusal, TooManyAtOnce } from '../errors.ts'
import type { UnreadAnswers } from '../http/unread-answers.ts'
import { columnTypesOf } from '../management/sheets/column-types.ts'
import { ProviderFailure } from '../sheets/provider-failure.ts'
import { refusalOfFailure } from '../sheets/refusal-of-failure.ts'
import type { Cell } from '../sheets/rows/grid.ts'
import { type IndexedSnapshot, rowBytes, rowJson } from '../sheets/rows/snapshot.ts'
import type { SheetRecord } from '../store/sheets/sheets.ts'

/** A page of the dashboard shows some of the rows; the rest is for the API. */
const maxRows = 500
/** More would be hard on the browser. */
const maxRowsBytes = 16 * 1024 * 1024
/** What takes longer comes with the next look: a page must not wait for a slow provider. */
const patienceMs = 1_000

const exampleRows = 5
const exampleCharacters = 120
const maxExampleBytes = 64 * 1024
const maxAllExampleBytes = 512 * 1024

/**
 * The rows of a sheet for its owner, written as the API writes them. It stands beside admission and not behind it: the
 * session has said already whose sheet it is.
 */
export function createOwnerReading(
  parts: ApiParts,
  unread: UnreadAnswers,
  baseUrl: () => string,
  lookingBack: LookingBack,
): OwnerReading {
  return {
    async history(sheet, wish) {
      const look = readOf(sheet).then(() => null)
      await Promise.race([look, sleep(patienceMs, null, { ref: false })])
      return lookingBack.before(sheet, wish)
    },
    inPieces({ accountId }, texts) {
      return makeJson(longTextsBody(texts, accountId, parts), accountId, null)
    },
    async rows(sheet, isConnectionOver, query, acceptEncoding) {
      if (sheet.credentialId !== null && isConnectionOver) return new Refusal('token_expired')
      const parameters = parseParameters(boundQuery(query))
      if (parameters instanceof Refusal) return parameters
      const wish = parseReadWish(parameters, 'list')
      if (wish instanceof Refusal) return wish
      try {
        const read = await parts.reading.readAll(factsOf(sheet), {
          values: wish.values,
          mustAskProvider: false,
        })
        const { columns } = read.snapshot
        if (columns.length === 0) return new Refusal('missing_headers')
        const listQuery = resolveWish({ ...wish, format: 'json' }, columns)
        if (listQuery instanceof Refusal) return listQuery
        const { accountId } = sheet
        const keyWarning = await warningOfKeys(sheet.keyColumn, read, wish.values, accountId, parts.querying)
        const shown = { ...wish, format: 'json' as const }
        const asked = { taker: accountId, wish: shown, listQuery, parameters, maxRowsBytes, keyWarning }
        const reply = await listReply(plainReader(sheet, baseUrl(), acceptEncoding), asked, read, parts)
        return reply instanceof Refusal ? reply : makeJson(reply.body, accountId, codingIn(reply.headers))
      } catch (error) {
        // How long to wait is said by the API of owners itself.
        const refusal = error instanceof TooManyAtOnce ? null : refusalOfFailure(error, 'read from')
        if (!refusal) throw error
        return refusal
      }
    },
    async shape(sheet, mustAskProvider = false) {
      const reading = readOf(sheet, mustAskProvider)
      const read = mustAskProvider
        ? await reading
        : await Promise.race([reading, sleep(patienceMs, null, { ref: false })])
      if (!read) return null
      const { snapshot, ageSeconds } = read
      const types = columnTypesOf(snapshot)
      const rows = firstRows(snapshot, exampleRows)
      return {
        columns: snapshot.columns.map(({ key }, at) => ({
          name: key,
          type: types[at] ?? 'string',
          example: exampleIn(rows, key),
        })),
        rowCount: snapshot.rowNumbers.length,
        ageSeconds,
      }
    },
    async firstCells(sheet, most) {
      const read = await readOf(sheet)
      if (!read) return null
      const { snapshot } = read
      return { columns: snapshot.columns.map(({ key }) => key), rows: firstRows(snapshot, most) }
    },
  }

  /** Sent as the API sends its own: without a copy, bit by bit where it is long, and held against its reader's account. */
  function makeJson(body: Body | null, accountId: string, coding: string | null): MadeJson {
    return {
      sendTo(response, head, isHead) {
        const headers = coding === null ? [] : ['Content-Encoding', coding]
        send(response, { status: 200, base: head, headers, body }, isHead, false)
        if (!isHead) unread.begin(accountId, response, buffersOf(body))
      },
    }
  }

  /** null when it cannot be read: why is told elsewhere. */
  async function readOf(
    sheet: SheetRecord,
    mustAskProvider = false,
  ): Promise<{ snapshot: IndexedSnapshot; ageSeconds: number } | null> {
    try {
      const wish = { values: 'typed', mustAskProvider } as const
      const { indexed, ageSeconds } = await parts.reading.readAll(factsOf(sheet), wish)
      return { snapshot: await indexed, ageSeconds }
    } catch (error) {
      if (error instanceof ProviderFailure || error instanceof TooManyAtOnce) return null
      throw error
    }
  }
}

/** Long ones are not parsed for the sake of an example, nor are many of some length. */
function firstRows(snapshot: IndexedSnapshot, most: number): Record<string, Cell>[] {
  const count = Math.min(most, snapshot.rowNumbers.length)
  const rows: Record<string, Cell>[] = []
  for (let at = 0, bytes = 0; at < count && bytes <= maxAllExampleBytes; at++) {
    if (rowBytes(snapshot, at) > maxExampleBytes) continue
    bytes += rowBytes(snapshot, at)
    rows.push(JSON.parse(rowJson(snapshot, at)) as Record<string, Cell>)
  }
  return rows
}

function exampleIn(rows: readonly Record<string, Cell>[], key: string): Cell {
  const row = rows.find((one) => Object.hasOwn(one, key) && one[key] != null && one[key] !== '')
  const value = row?.[key] ?? null
  return typeof value === 'string' ? value.slice(0, exampleCharacters) : value
}

function factsOf(sheet: SheetRecord) {
  return { ...sheet, needsReconnect: false }
}

function boundQuery(query: string): string {
  const parameters = new URLSearchParams(query)
  const limit = parameters.get('limit')
  if (limit === null || Number(limit) > maxRows) parameters.set('limit', String(maxRows))
  return parameters.toString()
}

function codingIn(headers: readonly string[]): string | null {
  const at = headers.indexOf('Content-Encoding')
  return at < 0 ? null : (headers[at + 1] ?? null)
}

/** A reader of Form B, without a condition. */
function plainReader({ id }: SheetRecord, baseUrl: string, acceptEncoding: string | undefined): ListReader {
  const address = { form: 'b', sheetId: id } as const
  return { address, baseUrl, isHead: false, accept: undefined, acceptEncoding, ifNoneMatch: undefined }
}
