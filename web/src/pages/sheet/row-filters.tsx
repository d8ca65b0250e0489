import { type FormEvent, useState } from 'react'
import { type FilterOperator, offeredOperators } from '../../../../src/sheets/rows/query/operators.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'

export interface RowFilter {
  column: string
  /** As in the public API: `price[gte]=10`. */
  operator: FilterOperator
  value: string
}

const wordsFor = new Map(offeredOperators.map(({ operator, words }) => [operator, words]))

/** The same filters that clients have; all of them must hold. */
export function RowFilters({
  columns,
  filters,
  onChange,
}: {
  columns: readonly string[]
  filters: readonly RowFilter[]
  onChange(filters: readonly RowFilter[]): void
}) {
  const [chosen, setChosen] = useState('')
  const column = columns.includes(chosen) ? chosen : (columns[0] ?? '')
  const [operator, setOperator] = useState<FilterOperator>('eq')
  const [value, setValue] = useState('')
  function add(event: FormEvent) {
    event.preventDefault()
    if (value === '') return
    onChange([...filters, { column, operator, value }])
    setValue('')
  }
  return (
    <>
      <form
        onSubmit={add}
        className="grid grid-cols-2 items-end gap-x-3 sm:grid-cols-[minmax(0,1fr)_10rem_minmax(0,1fr)_auto]"
      >
        <SelectField label="Filter by" value={column} onChange={({ target }) => setChosen(target.value)}>
          {columns.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
        <SelectField
          label="How"
          value={operator}
          onChange={({ target }) => setOperator(target.value as FilterOperator)}
        >
          {offeredOperators.map(({ operator: name, words }) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </SelectField>
        <TextField label="Value" value={value} onChange={({ target }) => setValue(target.value)} />
        <Button type="submit" className="mb-4">
          Add filter
        </Button>
      </form>
      {filters.length > 0 && (
        <ul className="mb-4 flex flex-wrap gap-2">
          {filters.map((filter, at) => (
            <li key={`${filter.column} ${filter.operator} ${filter.value}`}>
              <button
                type="button"
                onClick={() => onChange(filters.toSpliced(at, 1))}
                className="flex items-center gap-2 rounded-full bg-accent-wash px-3 py-1 text-[13px] text-accent"
              >
                {filter.column} {wordsFor.get(filter.operator)} {filter.value}
                <span aria-hidden="true">×</span>
                <span className="sr-only">(remove)</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
