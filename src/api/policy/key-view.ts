import type { Pass } from '../../admission/judge.ts'
import type { KeyPolicy } from '../../admission/key-policy.ts'
import { Refusal } from '../../errors.ts'
import type { Filter } from '../../sheets/rows/query/query.ts'
import { type Column, positionOfColumn } from '../../sheets/rows/table.ts'
import type { RowsView } from '../../sheets/rows/view/rows-view.ts'
import { resolveFilters } from '../request/list-query.ts'
import { isIgnored } from '../request/parameter-name.ts'
import { parseParameters } from '../request/query.ts'
import { invalid, isBooleanFilter, parametersOf } from '../request/read-wish.ts'

/** What of its sheet a key may read. */
export function viewOf(key: Pass['key']): RowsView | 'everything' {
  if (!key?.policy) return 'everything'
  const known = views.get(key.policy)
  if (known) return known
  const view = viewOfPolicy(key.policy)
  views.set(key.policy, view)
  return view
}

const views = new WeakMap<KeyPolicy, RowsView>()

function viewOfPolicy({ readColumns, where }: Pick<KeyPolicy, 'readColumns' | 'where'>): RowsView {
  return {
    name: JSON.stringify([readColumns, where]),
    partOf(columns, values) {
      // As displayed, a cell may compare otherwise than it is.
      if (where !== null && values === 'formatted')
        return invalid('"values=formatted" cannot be used with this key.')
      const filters = where === null ? [] : filtersOf(where, columns)
      // What is wrong with them names columns that the key does not know.
      if (filters instanceof Refusal) return policyOutdated
      return { columns: positionsOf(readColumns, columns), filters }
    },
  }
}

/** Ascending; what row 1 does not have any more is left out. */
export function positionsOf(names: readonly string[] | null, columns: readonly Column[]): number[] {
  if (names === null) return [...columns.keys()]
  const found = names.flatMap((name) => positionOfColumn(columns, name) ?? [])
  return [...new Set(found)].sort((one, other) => one - other)
}

/** A policy's own filters, on all columns of the sheet; a refusal in words for its owner. */
export function filtersOf(where: string, columns: readonly Column[]): Filter[] | Refusal {
  const parameters = parseParameters(where)
  if (parameters instanceof Refusal) return parameters
  const other = parameters.find(([name]) => parametersOf.list.includes(name) || name === 'api_key')
  if (other) return invalid(`"${other[0]}" is no filter; for a column of that name, write "${other[0]}[eq]".`)
  // A query may have such parameters, and they mean nothing; a filter that means nothing would hide nothing.
  const ignored = parameters.find(([name]) => isIgnored(name) && positionOfColumn(columns, name) === null)
  if (ignored) return invalid(`There is no column "${ignored[0]}" to filter by.`)
  const malformed = parameters.find(
    ([name, value]) => isBooleanFilter(name) && value !== 'true' && value !== 'false',
  )
  if (malformed) return invalid(`"${malformed[0]}" must be "true" or "false".`)
  if (parameters.length === 0) return invalid('There is no filter in it.')
  return resolveFilters(parameters, columns, [])
}

/** Never more than the policy says: where it cannot be held any more, nothing is shown. */
export const policyOutdated = new Refusal('insufficient_scope', {
  fill: { scope: 'read-write' },
  details: 'The sheet lacks something that the policy of this key names. The owner of the key can mend it.',
})
