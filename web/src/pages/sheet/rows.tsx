import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { CellView, RowsView } from '../../../../src/dashboard/contract.ts'
import { rowsQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { shownNumber } from '../../ui/number.ts'
import { ScrollBox } from '../../ui/scroll-box.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { type RowFilter, RowFilters } from './row-filters.tsx'
import { useSheet } from './sheet-query.ts'

const pageRows = 50

/** The sheet as its clients see it, page by page. */
export function Rows() {
  const sheet = useSheet()
  const [search, setSearch] = useState('')
  const [sort, setSort] = useState('')
  const [filters, setFilters] = useState<readonly RowFilter[]>([])
  const [offset, setOffset] = useState(0)
  const parameters = new URLSearchParams({ limit: String(pageRows), offset: String(offset) })
  if (search) parameters.set('q', search)
  if (sort) parameters.set('sort', sort)
  for (const { column, operator, value } of filters) parameters.append(`${column}[${operator}]`, value)
  const page = useQuery(rowsQuery(sheet.slug, parameters))
  const columns = page.data?.meta.columns ?? sheet.columns.map(({ name }) => name)
  const from = page.data?.meta.total === 0 ? 0 : offset + 1
  const to = offset + (page.data?.data.length ?? 0)
  return (
    <>
      <div className="grid grid-cols-1 gap-x-4 sm:grid-cols-[minmax(0,1fr)_14rem]">
        <TextField
          label="Search"
          type="search"
          placeholder="In all columns"
          value={search}
          onChange={({ target }) => {
            setSearch(target.value)
            setOffset(0)
          }}
        />
        <SelectField
          label="Order"
          value={sort}
          onChange={({ target }) => {
            setSort(target.value)
            setOffset(0)
          }}
        >
          <option value="">As in the sheet</option>
          {columns.flatMap((name) => [
            <option key={name} value={name}>{`${name}, ascending`}</option>,
            <option key={`-${name}`} value={`-${name}`}>{`${name}, descending`}</option>,
          ])}
        </SelectField>
      </div>
      <RowFilters
        columns={columns}
        filters={filters}
        onChange={(changed) => {
          setFilters(changed)
          setOffset(0)
        }}
      />
      {page.isPending && <Skeleton lines={10} label="Reading the rows" />}
      {page.error && !page.data && <ErrorState error={page.error} onRetry={() => page.refetch()} />}
      {page.error && page.data && (
        <p role="alert" className="mb-3 text-sm text-bad">
          {page.error.message} Below are the rows as they were last read.
        </p>
      )}
      {page.data && (
        <>
          <RowTable page={page.data} />
          <div className="mt-3 flex items-center justify-between text-sm text-soft">
            <span aria-live="polite" className="tabular-nums">
              {shownNumber(from)}–{shownNumber(to)} of {shownNumber(page.data.meta.total)}
            </span>
            <span className="flex gap-2">
              <Button disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - pageRows))}>
                Previous
              </Button>
              <Button disabled={to >= page.data.meta.total} onClick={() => setOffset(offset + pageRows)}>
                Next
              </Button>
            </span>
          </div>
        </>
      )}
    </>
  )
}

function RowTable({ page: { data, meta } }: { page: RowsView }) {
  if (data.length === 0)
    return (
      <p className="rounded-xl border border-dashed border-line-strong py-10 text-center text-sm text-soft">
        No rows match.
      </p>
    )
  return (
    <ScrollBox label="Rows" className="rounded-xl border border-line bg-raised">
      <table className="w-full text-sm">
        <thead>
          <tr className="border-b border-line text-left text-[13px] text-soft">
            <th scope="col" className="px-3 py-2 font-medium">
              Row
            </th>
            {meta.columns.map((name) => (
              <th key={name} scope="col" className="px-3 py-2 font-medium whitespace-nowrap">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.map((row, at) => (
            <tr key={meta.rows[at]} className="border-b border-line last:border-0">
              <td className="px-3 py-1.5 text-soft tabular-nums">{meta.rows[at]}</td>
              {meta.columns.map((name) => (
                <td key={name} className="max-w-80 truncate px-3 py-1.5">
                  <ShownCell value={Object.hasOwn(row, name) ? (row[name] ?? null) : null} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

function ShownCell({ value }: { value: CellView }) {
  if (value === null) return <span className="text-soft">·</span>
  if (typeof value === 'number') return <span className="tabular-nums">{value}</span>
  return String(value)
}
