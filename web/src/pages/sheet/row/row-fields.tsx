import { useId } from 'react'
import type { ColumnView } from '../../../../../src/dashboard/contract.ts'

/** One field for each column, that knows what the column holds. */
export function RowFields({
  columns,
  values,
  onChange,
}: {
  columns: readonly ColumnView[]
  values: Record<string, string>
  onChange(name: string, value: string): void
}) {
  const id = useId()
  return columns.map(({ name, type, example }, at) => {
    const look = 'w-full rounded-md border border-line-strong bg-raised px-3 py-1.5 text-sm text-ink'
    const value = values[name] ?? ''
    const field = { id: `${id}-${at}`, value, className: look }
    return (
      <div key={name} className="pb-4">
        <label htmlFor={field.id} className="mb-1 block text-sm font-medium wrap-anywhere">
          {name} <span className="font-mono text-xs font-normal text-soft">{type}</span>
        </label>
        {/^boolean(?: \| null)?$/.test(type) ? (
          <select {...field} onChange={({ target }) => onChange(name, target.value)}>
            <option value="">empty</option>
            <option value="true">true</option>
            <option value="false">false</option>
          </select>
        ) : value.length > 60 || value.includes('\n') ? (
          <textarea {...field} rows={5} onChange={({ target }) => onChange(name, target.value)} />
        ) : (
          <input
            {...field}
            autoComplete="off"
            inputMode={/^number(?: \| null)?$/.test(type) ? 'decimal' : 'text'}
            placeholder={example === null ? '' : `e.g. ${String(example).slice(0, 40)}`}
            onChange={({ target }) => onChange(name, target.value)}
          />
        )}
      </div>
    )
  })
}
