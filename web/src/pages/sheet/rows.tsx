import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { CellView, ColumnView, RowsView } from '../../../../src/dashboard/contract.ts'
import { Refused } from '../../api.ts'
import { rowsQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { DensitySwitch, useIsDense } from '../../ui/list/density.tsx'
import { shownNumber } from '../../ui/number.ts'
import { ScrollBox } from '../../ui/scroll-box.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'
import { askAsClient } from './as-client.ts'
import { AddRow } from './row/add-row.tsx'
import { RowPanel } from './row/row-panel.tsx'
import { RowFilters } from './row-filters.tsx'
import { pageRows, parametersOf, type RowsSearch } from './rows-search.ts'
import { useSheet } from './sheet-query.ts'

/** The sheet as its clients see it, page by page. What is looked for stands in the URL, so it can be sent to somebody. */
export function Rows() {
  const sheet = useSheet()
  const { account } = useSession()
  const search = useSearch({ from: '/owners/sheets/$slug/rows' })
  const navigate = useNavigate({ from: '/sheets/$slug/rows' })
  const [typed, setTyped] = useState(search.q ?? '')
  const [isAdding, setIsAdding] = useState(false)
  const { where = [], page: pageNumber = 1, sort = '', row } = search
  const offset = (pageNumber - 1) * pageRows
  const change = (part: RowsSearch, isTyping = false) =>
    void navigate({
      search: (former) => ({ ...former, page: undefined, ...part }),
      replace: isTyping,
      resetScroll: false,
    })
  // Back and forward change what is looked for, and so does the field.
  useEffect(() => setTyped(search.q ?? ''), [search.q])
  const page = useQuery(rowsQuery(sheet.slug, parametersOf(search)))
  const columns = page.data?.meta.columns ?? sheet.columns.map(({ name }) => name)
  const to = offset + (page.data?.data.length ?? 0)
  const isUnreadable = page.error instanceof Refused && sheet.state !== 'live' && !page.data
  const isFiltered = where.length > 0 || Boolean(search.q)
  return (
    <>
      <div className="grid grid-cols-1 gap-x-4 sm:grid-cols-[minmax(0,1fr)_14rem]">
        <TextField
          label="Search"
          type="search"
          placeholder="Search all columns"
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value)
            change({ q: target.value || undefined }, true)
          }}
        />
        <SelectField
          label="Sort"
          value={sort}
          onChange={({ target }) => change({ sort: target.value || undefined })}
        >
          <option value="">Sheet order</option>
          {columns.flatMap((name) => [
            <option key={name} value={name}>{`${name}, ascending`}</option>,
            <option key={`-${name}`} value={`-${name}`}>{`${name}, descending`}</option>,
          ])}
        </SelectField>
      </div>
      <RowFilters
        columns={sheet.columns}
        names={columns}
        filters={where}
        onChange={(changed) => change({ where: changed.length > 0 ? changed : undefined })}
      />
      <div className="mb-4 flex flex-wrap gap-2">
        <Button
          disabled={!account.plan.writeApi || sheet.columns.length === 0}
          title={account.plan.writeApi ? undefined : 'Your plan is read-only.'}
          onClick={() => setIsAdding(true)}
        >
          Add row
        </Button>
        <ExportButton slug={sheet.slug} path={sheet.paths.formA} search={search} />
        <DensitySwitch count={page.data?.data.length ?? 0} />
      </div>
      {page.isPending && <Skeleton lines={10} label="Loading rows" />}
      {isUnreadable && <p className="py-8 text-center text-sm text-soft">No rows to show right now.</p>}
      {page.error && !page.data && !isUnreadable && (
        <ErrorState error={page.error} onRetry={() => page.refetch()} />
      )}
      {page.error && page.data && (
        <p role="alert" className="mb-3 text-sm text-bad">
          {/* The banner has said why. */}
          {sheet.state !== 'broken' && `${page.error.message} `}
          Showing the last rows we loaded.
        </p>
      )}
      {page.data && (
        <div aria-busy={page.isPlaceholderData} className="transition-opacity aria-busy:opacity-50">
          {page.data.meta.warnings?.map((warning) => (
            <p
              key={warning}
              role="status"
              className="mb-3 rounded-md bg-warn-wash px-3 py-2 text-caption text-warn"
            >
              {warning}
            </p>
          ))}
          {page.data.data.length === 0 ? (
            <div className="rounded-xl border border-dashed border-line-strong py-10 text-center text-sm text-soft">
              <p>{isFiltered ? 'No rows match.' : 'This sheet has no rows yet.'}</p>
              {isFiltered && (
                <Button className="mt-3" onClick={() => change({ q: undefined, where: undefined })}>
                  Clear filters
                </Button>
              )}
            </div>
          ) : (
            <>
              <RowTable
                page={page.data}
                columns={sheet.columns}
                keyColumn={sheet.settings.keyColumn}
                onChosen={(number) => change({ row: number, page: search.page })}
              />
              <div className="mt-3 flex items-center justify-between text-sm text-soft">
                <span aria-live="polite" className="tabular-nums">
                  {page.isPlaceholderData
                    ? 'Searching…'
                    : `${shownNumber(offset + 1)}–${shownNumber(to)} of ${shownNumber(page.data.meta.total)}`}
                </span>
                <span className={`flex gap-2 ${page.data.meta.total > pageRows ? '' : 'hidden'}`}>
                  <Button
                    disabled={pageNumber === 1}
                    onClick={() => change({ page: pageNumber > 2 ? pageNumber - 1 : undefined })}
                  >
                    Previous
                  </Button>
                  <Button
                    disabled={to >= page.data.meta.total}
                    onClick={() => change({ page: pageNumber + 1 })}
                  >
                    Next
                  </Button>
                </span>
              </div>
            </>
          )}
        </div>
      )}
      <RowPanel
        sheet={sheet}
        row={row ?? null}
        onClose={() => change({ row: undefined, page: search.page })}
      />
      <AddRow sheet={sheet} isOpen={isAdding} onClose={() => setIsAdding(false)} />
    </>
  )
}

const fetchCsv = async ({ slug, path }: { slug: string; path: string }) => {
  const { response, text } = await askAsClient({ slug, method: 'GET', path, body: null })
  if (!response.ok) throw new Error('The rows couldn’t be exported. Try again in a moment.')
  return text
}

/** All rows that the search and the filters leave, not only the page that is shown. */
function ExportButton({ slug, path, search }: { slug: string; path: string; search: RowsSearch }) {
  const toast = useToast()
  const download = useMutation({
    mutationFn: fetchCsv,
    onSuccess: (text, asked) => {
      const link = document.createElement('a')
      link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
      link.download = `${asked.slug}.csv`
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
    },
    onError: ({ message }) => toast(message),
  })
  const parameters = parametersOf(search)
  parameters.delete('limit')
  parameters.delete('offset')
  parameters.set('format', 'csv')
  return (
    <Button
      isBusy={download.isPending}
      onClick={() => download.mutate({ slug, path: `${path}?${parameters}` })}
    >
      Export CSV
    </Button>
  )
}

function RowTable({
  page: { data, meta },
  columns,
  keyColumn,
  onChosen,
}: {
  page: RowsView
  columns: readonly ColumnView[]
  keyColumn: string | null
  onChosen(row: number): void
}) {
  const typeOf = new Map(columns.map(({ name, type }) => [name, type]))
  const isNumeric = (name: string) =>
    /^number(?: \| null)?$/.test(typeOf.get(name) ?? typeof data.find((row) => row[name] != null)?.[name])
  const numbers = new Set(meta.columns.filter(isNumeric))
  const isDense = useIsDense(data.length)
  const cellPadding = isDense ? 'py-1.5' : 'py-3'
  return (
    <ScrollBox label="Rows" className="max-h-[75dvh] rounded-xl border border-line bg-raised">
      <table className="w-full text-sm">
        <thead>
          <tr className="text-left text-caption text-soft *:sticky *:top-0 *:z-10 *:border-b *:border-line *:bg-raised">
            <th scope="col" className="left-0 z-20! px-3 py-2 font-medium">
              Row
            </th>
            {meta.columns.map((name) => (
              <th
                key={name}
                scope="col"
                title={name}
                className={`max-w-60 truncate px-3 py-2 font-medium ${numbers.has(name) ? 'text-right' : ''}`}
              >
                {name}
                {name === keyColumn && <span className="ml-1.5 text-accent">key</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.map((row, at) => {
            const number = meta.rows[at] ?? 0
            return (
              <tr key={number} className="group border-b border-line last:border-0 hover:bg-sunken/60">
                <td className={`sticky left-0 bg-raised px-3 tabular-nums ${cellPadding}`}>
                  <button
                    type="button"
                    aria-label={`Open row ${number}`}
                    onClick={() => onChosen(number)}
                    className="rounded-sm text-accent underline underline-offset-2"
                  >
                    {number}
                  </button>
                </td>
                {meta.columns.map((name) => {
                  const value = Object.hasOwn(row, name) ? (row[name] ?? null) : null
                  return (
                    <td
                      key={name}
                      title={
                        typeof value === 'string' && value.length > 30 ? value.slice(0, 1_000) : undefined
                      }
                      className={`max-w-80 truncate px-3 ${cellPadding} ${numbers.has(name) ? 'text-right' : ''}`}
                    >
                      <ShownCell value={value} />
                    </td>
                  )
                })}
              </tr>
            )
          })}
        </tbody>
      </table>
    </ScrollBox>
  )
}

function ShownCell({ value }: { value: CellView }) {
  if (value === null) return <span className="text-soft">·</span>
  if (typeof value === 'number') return <span className="tabular-nums">{value}</span>
  // More would only be cut off, and fill the page.
  return String(value).slice(0, 300)
}
