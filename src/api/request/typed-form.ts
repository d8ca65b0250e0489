import { foldName } from '../../sheets/rows/column-name.ts'
import { columnKindsOf } from '../../sheets/rows/query/columns/column-summary.ts'
import type { RowInput } from '../../sheets/rows/row-input.ts'
import type { IndexedSnapshot } from '../../sheets/rows/snapshot.ts'
import { isExactNumber } from './body.ts'

/**
 * A form knows only texts. Where a column holds nothing but numbers, or nothing but booleans, a text that is one becomes one
 * (docs/contract.md#forms); every other stays the text that it is.
 */
export function typeFormRow(row: RowInput, snapshot: IndexedSnapshot): RowInput {
  const kinds = columnKindsOf(snapshot)
  const byName = new Map(snapshot.columns.map(({ key }, at) => [foldName(key), kinds[at]?.kinds ?? []]))
  for (const [at, { key }] of snapshot.columns.entries()) byName.set(key, kinds[at]?.kinds ?? [])
  return row.map(([name, value]) => {
    const [kind, ...others] = byName.get(name) ?? byName.get(foldName(name)) ?? []
    if (typeof value !== 'string' || others.length > 0) return [name, value]
    if (kind === 'boolean') return [name, booleanIn(value) ?? value]
    if (kind === 'number' || kind === 'integer') return [name, numberIn(value) ?? value]
    return [name, value]
  })
}

/** As a checkbox says it, too. */
function booleanIn(text: string): boolean | null {
  if (/^\s*(?:true|on)\s*$/i.test(text)) return true
  return /^\s*false\s*$/i.test(text) ? false : null
}

function numberIn(text: string): number | null {
  const trimmed = text.trim()
  if (!/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/.test(trimmed)) return null
  const number = Number(trimmed)
  return isExactNumber(trimmed, number) ? number : null
}
