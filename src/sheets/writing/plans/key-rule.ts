import { randomUUID } from 'node:crypto'
import { Refusal } from '../../../errors.ts'
import type { AutoKey } from '../../../store/sql/schema.ts'
import { shortenName } from '../../rows/column-name.ts'
import type { Cell } from '../../rows/grid.ts'
import { equalityKeys } from '../../rows/query/equal-values.ts'
import type { GivenCell } from '../../rows/row-input.ts'
import { type Column, positionOfColumn } from '../../rows/table.ts'
import type { RowFinder } from '../looks/row-finder.ts'
import type { GroupEffects } from './group-effects.ts'

/** A row that gets a key: a new one, or one whose key is written. */
export interface KeyedRow {
  /** Its number when the sheet was read; null for a new one. */
  rowAsRead: number | null
  cells: readonly GivenCell[]
}

/** What a sheet's key column asks of writes: every row has a key, and no key is there twice (docs/contract.md#key-column). */
export interface KeyRule {
  /** null where row 1 does not have it any more. */
  column: Column | null
  /** Rows to be added, each with a key: one that was given, or a new one where the sheet makes them. */
  withKeys(rows: readonly (readonly GivenCell[])[]): (readonly GivenCell[])[] | Refusal
  /** Null where the keys of these rows would be all right; rows that leave their key alone may be among them. */
  check(
    rows: readonly KeyedRow[],
    effects: GroupEffects,
  ): Generator<void, Refusal | 'later' | 'unread' | null>
}

export interface KeySettings {
  keyColumn: string | null
  autoKey: AutoKey
}

const rowsPerStep = 64

/** null where the sheet has no key column. Where row 1 does not have it any more, rows can be changed and not added. */
export function createKeyRule(
  { keyColumn, autoKey }: KeySettings,
  columns: readonly Column[],
  finder: RowFinder | null,
): KeyRule | null {
  if (keyColumn === null) return null
  const position = positionOfColumn(columns, keyColumn)
  const column = position === null ? undefined : columns[position]
  if (position === null || !column) {
    const gone = invalidKey(`The key column "${shortenName(keyColumn)}" is no longer in row 1 of the sheet.`)
    return {
      column: null,
      withKeys: () => gone,
      // biome-ignore lint/correctness/useYield: there is nothing to look at.
      *check() {
        return null
      },
    }
  }
  const keyOf = (cells: readonly GivenCell[]) => cells.find((cell) => cell.column.index === column.index)

  return {
    column,
    withKeys(rows) {
      const keyed: (readonly GivenCell[])[] = []
      for (const cells of rows) {
        if ((keyOf(cells)?.value ?? null) !== null) keyed.push(cells)
        else if (autoKey === 'uuid') {
          const others = cells.filter((cell) => cell.column.index !== column.index)
          keyed.push([...others, { column, value: randomUUID() }])
        } else {
          const which = rows.length > 1 ? `Row ${keyed.length + 1} of the array` : 'The row'
          return invalidKey(`${which} lacks a value for the key column "${shortenName(column.key)}".`)
        }
      }
      return keyed
    },
    *check(rows, effects) {
      const written = rows.flatMap(({ rowAsRead, cells }) => {
        const key = keyOf(cells)
        return key ? { rowAsRead, value: key.value } : []
      })
      if (written.length === 0) return null
      const newKeys = new Set<string>()
      for (const [at, { value }] of written.entries()) {
        if (at % rowsPerStep === 0) yield
        if (value === null)
          return invalidKey(`The key column "${shortenName(column.key)}" must not be emptied.`)
        const keys = equalityKeys(String(value))
        if (keys.some((key) => newKeys.has(key))) {
          return exists(`The key ${showKey(value)} would be there twice after this request.`)
        }
        for (const key of keys) newKeys.add(key)
        if (effects.isValueTouched(column.index, String(value))) return 'later'
      }
      const values = written.map(({ value }) => String(value))
      const found = finder && (yield* finder.rowsOfEach(position, values))
      if (!found) return 'unread'
      // A row that gives its key away in the same request does not stand in the way of the one that takes it.
      const givenAway = new Set(written.map(({ rowAsRead }) => rowAsRead))
      for (const [at, rows] of found.entries()) {
        const other = rows.find((row) => !givenAway.has(row))
        if (other === undefined) continue
        // It would name a row by a number that it may not have by then.
        if (effects.hasDeletion()) return 'later'
        if (finder.isShownOtherwise(values[at] ?? '')) return 'unread'
        return exists(`The key ${showKey(written[at]?.value ?? null)} is in row ${other} already.`)
      }
      return null
    },
  }
}

function exists(details: string): Refusal {
  return new Refusal('row_exists', { details })
}

function showKey(value: Cell): string {
  return typeof value === 'string' ? `"${shortenName(value)}"` : String(value)
}

function invalidKey(details: string): Refusal {
  return new Refusal('invalid_body', { details })
}
