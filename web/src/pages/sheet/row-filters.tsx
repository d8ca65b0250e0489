import { type FormEvent, useState } from 'react'
import type { ColumnView } from '../../../../src/dashboard/contract.ts'
import {
  argumentOf,
  type FilterOperator,
  offeredOperators,
  operatorTable,
} from '../../../../src/sheets/rows/query/operators.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import type { RowFilter } from './rows-search.ts'

const wordsFor = new Map(offeredOperators.map(({ operator, words }) => [operator, words]))

/** No number is at least, or is, what is no number. */
function isHopeless({ column, operator, value }: RowFilter, columns: readonly ColumnView[]): boolean {
  const { compares } = operatorTable[operator]
  if (value === '' || !(compares === 'order' || operator === 'eq')) return false
  const type = columns.find(({ name }) => name === column)?.type ?? ''
  return /^number(?: \| null)?$/.test(type) && Number.isNaN(Number(value))
}

/** Filters as clients have them; all of them must hold. */
export function RowFilters({
  columns,
  names,
  filters,
  onChange,
}: {
  columns: readonly ColumnView[]
  names: readonly string[]
  filters: readonly RowFilter[]
  onChange(filters: readonly RowFilter[]): void
}) {
  const [chosen, setChosen] = useState('')
  const column = names.includes(chosen) ? chosen : (names[0] ?? '')
  const [operator, setOperator] = useState<FilterOperator>('eq')
  const [value, setValue] = useState('')
  const { label } = argumentOf(operator)
  const hopeless = [...filters, { column, operator, value }].find((filter) => isHopeless(filter, columns))
  function add(event: FormEvent) {
    event.preventDefault()
    if (value === '' && label !== null) return
    onChange([...filters, { column, operator, value: label === null ? 'true' : value }])
    setValue('')
  }
  return (
    <>
      <form
        onSubmit={add}
        className="grid grid-cols-2 items-end gap-x-3 sm:grid-cols-[minmax(0,1fr)_10rem_minmax(0,1fr)_auto]"
      >
        <SelectField label="Filter by" value={column} onChange={({ target }) => setChosen(target.value)}>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
        <SelectField
          label="Condition"
          value={operator}
          onChange={({ target }) => setOperator(target.value as FilterOperator)}
        >
          {offeredOperators.map(({ operator: name, words }) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </SelectField>
        <TextField
          label={label ?? 'Value'}
          disabled={label === null}
          value={label === null ? '' : value}
          onChange={({ target }) => setValue(target.value)}
        />
        <Button type="submit" className="mb-4">
          Add filter
        </Button>
      </form>
      <p role="status" className="-mt-2 mb-3 text-caption text-warn empty:hidden">
        {hopeless && `“${hopeless.column}” holds numbers, so “${hopeless.value}” won’t match any row.`}
      </p>
      {filters.length > 0 && (
        <ul className="mb-4 flex flex-wrap items-center gap-2">
          {filters.map((filter, at) => (
            <li key={`${filter.column} ${filter.operator} ${filter.value}`}>
              <button
                type="button"
                onClick={() => onChange(filters.toSpliced(at, 1))}
                className="flex items-center gap-2 rounded-full bg-accent-wash px-3 py-1 text-caption text-accent"
              >
                {filter.column} {wordsFor.get(filter.operator)}{' '}
                {operatorTable[filter.operator].takes !== 'boolean' && filter.value}
                <span aria-hidden="true">×</span>
                <span className="sr-only">(remove)</span>
              </button>
            </li>
          ))}
          <li>
            <button
              type="button"
              onClick={() => onChange([])}
              className="text-caption text-soft underline underline-offset-2 hover:text-ink"
            >
              Clear filters
            </button>
          </li>
        </ul>
      )}
    </>
  )
}
