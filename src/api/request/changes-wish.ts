import { readCursor } from '../../changes/cursor.ts'
import type { ChangesWish } from '../../changes/reading-changes.ts'
import { Refusal } from '../../errors.ts'
import type { LoggedChange } from '../../sheets/logged-change.ts'
import type { Logged } from '../../sheets/sheet-log.ts'
import { isIgnored } from './parameter-name.ts'
import type { Parameters } from './query.ts'

/** What is asked of the log. */
export interface ChangesAsked extends ChangesWish {
  filterName: string
  /** null = from now on. */
  since: Logged | 'earliest' | null
  waitMs: number
}

const defaultLimit = 100
const maxLimit = 1_000
const maxWaitSeconds = 60
const kinds: readonly LoggedChange['kind'][] = ['added', 'updated', 'deleted', 'columns_changed', 'reset']

/** `stream`: what only a stream has, and then it ends by no number and no time. */
export function parseChangesWish(
  parameters: Parameters,
  stream: { lastEventId: string | undefined } | null,
): ChangesAsked | Refusal {
  const names = stream ? namesOfStream : namesOfList
  const given = new Map<string, string>()
  for (const [name, value] of parameters) {
    if (name === 'api_key' || isIgnored(name)) continue
    if (!names.includes(name)) return invalid(`"${name}" means nothing here; there are ${names.join(', ')}.`)
    given.set(name, value)
  }
  // A browser that connects again says where it was, with the address it began with.
  const since = stream?.lastEventId ?? given.get('since')
  const place = since === undefined || since === 'earliest' ? since : readCursor(since)
  if (place === null) return invalid('"since" must be a cursor, or "earliest".')
  const limit = wholeNumber(given.get('limit'), defaultLimit)
  if (limit === null || limit < 1 || limit > maxLimit)
    return invalid(`"limit" must be from 1 to ${maxLimit}.`)
  const wait = wholeNumber(given.get('wait'), 0)
  if (wait === null || wait > maxWaitSeconds) return invalid(`"wait" must be from 0 to ${maxWaitSeconds}.`)
  const row = wholeNumber(given.get('row'), 0)
  if (row === null) return invalid('"row" must be a row number.')
  const wanted = given.get('kind')?.split(',') ?? kinds
  const unknown = wanted.find((kind) => !kinds.some((known) => known === kind))
  if (unknown !== undefined) return invalid(`There is no kind "${unknown}"; there are ${kinds.join(', ')}.`)
  const source = given.get('source')
  if (source !== undefined && source !== 'api' && source !== 'outside')
    return invalid('"source" must be "api" or "outside".')
  const key = given.get('key')
  return {
    filterName: JSON.stringify([wanted, source, row, key]),
    since: place ?? null,
    limit,
    waitMs: wait * 1_000,
    matches: (change) =>
      wanted.includes(change.kind) &&
      (source === undefined || (change.operation === undefined) === (source === 'outside')) &&
      (row === 0 || change.row === row) &&
      (key === undefined || keyOf(change) === key),
  }
}

const namesOfStream = ['since', 'key', 'row', 'kind', 'source']
const namesOfList = ['limit', 'wait', ...namesOfStream]

/** A number and a text of the same look are the same in an address. */
function keyOf({ key }: LoggedChange): string | null {
  return key === undefined ? null : String(JSON.parse(key))
}

function wholeNumber(text: string | undefined, otherwise: number): number | null {
  if (text === undefined) return otherwise
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : null
}

function invalid(details: string): Refusal {
  return new Refusal('invalid_query', { details })
}
