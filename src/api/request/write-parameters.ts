import { Refusal } from '../../errors.ts'
import { shortenName } from '../../sheets/rows/column-name.ts'
import { nearestName } from '../../sheets/rows/nearest-name.ts'
import { meant } from './column-finder.ts'
import { isBracketed, isIgnored } from './parameter-name.ts'
import { type Parameters, wholeNumber } from './query.ts'
import { invalid, isBooleanFilter, parametersOf } from './read-wish.ts'

/** POST · PUT and PATCH · DELETE · POST to `…/operations/{id}/undo`. */
export type WriteKind = 'add' | 'update' | 'delete' | 'undo'

/** What a write is asked to be, beside its method, its row and its body. */
export interface WriteParameters {
  isDryRun: boolean
  /** The column by which rows are found, of an addition that may be a change. */
  upsert: string | null
  onMatch: 'change' | 'skip'
  /** For a change or deletion of many rows: filters as they came, and the search. */
  filters: Parameters
  search: string | null
  isAll: boolean
  maxRows: number
}

const usualMaxRows = 100
const mostMaxRows = 10_000

/** Read elsewhere. */
const elsewhere = new Set(['api_key', 'row'])

/** What each write takes, beside filters. */
export const parametersOfWrites = {
  add: ['upsert', 'on_match', 'dry_run'],
  one: ['dry_run'],
  many: ['q', 'all', 'max_rows', 'dry_run'],
} as const satisfies Record<string, readonly string[]>

/**
 * They mean something elsewhere, so they are no filters: whoever deletes with `limit=5` does not mean a column, also where one is called so.
 */
const meansElsewhere: ReadonlySet<string> = new Set([...parametersOf.list, ...parametersOfWrites.add])

/** A parameter that means nothing is refused, so that a mistyped `dry_run` writes nothing. */
export function parseWriteParameters(
  parameters: Parameters,
  kind: WriteKind,
  isOneRow: boolean,
): WriteParameters | Refusal {
  const isMany = kind !== 'add' && !isOneRow
  const known: readonly string[] = parametersOfWrites[kind === 'add' ? 'add' : isMany ? 'many' : 'one']
  const single = new Map<string, string>()
  const filters: (readonly [string, string])[] = []
  for (const parameter of parameters) {
    const [name, value] = parameter
    if (elsewhere.has(name)) continue
    if (known.includes(name)) {
      if ((single.get(name) ?? value) !== value)
        return invalid(`"${name}" was given twice with different values.`)
      single.set(name, value)
    } else if (isIgnored(name) && !isBracketed(name)) {
    } else if (!isMany) return invalid(notHere(name, known))
    else if (meansElsewhere.has(name)) return invalid(noFilter(name))
    else if (isBooleanFilter(name) && value !== 'true' && value !== 'false') {
      return invalid(`"${shortenName(name)}" must be "true" or "false".`)
    } else filters.push(parameter)
  }
  const isDryRun = yes(single, 'dry_run')
  if (isDryRun instanceof Refusal) return isDryRun
  const isAll = yes(single, 'all')
  if (isAll instanceof Refusal) return isAll
  const onMatch = single.get('on_match') ?? 'change'
  if (onMatch !== 'change' && onMatch !== 'skip') return invalid('"on_match" must be "change" or "skip".')
  const upsert = single.get('upsert') ?? null
  if (upsert === null && single.has('on_match')) return invalid('"on_match" belongs to "upsert".')
  const maxRows = wholeNumber(single.get('max_rows') ?? String(usualMaxRows))
  if (maxRows === null || maxRows < 1 || maxRows > mostMaxRows) {
    return invalid(`"max_rows" must be a whole number from 1 to ${mostMaxRows}.`)
  }
  return { isDryRun, upsert, onMatch, filters, search: single.get('q') || null, isAll, maxRows }
}

function yes(single: ReadonlyMap<string, string>, name: string): boolean | Refusal {
  const given = single.get(name) ?? 'false'
  return given === 'true' || given === 'false'
    ? given === 'true'
    : invalid(`"${name}" must be "true" or "false".`)
}

function notHere(name: string, known: readonly string[]): string {
  return `"${shortenName(name)}" cannot be used here: this write takes ${known.join(', ')}.${meant(nearestName(name, known))}`
}

function noFilter(name: string): string {
  const taken = parametersOfWrites.many.join(', ')
  return `"${name}" cannot be used here: this write takes filters, ${taken}. To filter by a column of that name, write "${name}[eq]".`
}
