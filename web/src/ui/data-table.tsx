import { Fragment, type ReactNode } from 'react'
import { ScrollBox } from './scroll-box.tsx'

interface Column<Row> {
  title: string
  cell(row: Row): ReactNode
  isNumber?: boolean
  /** Left out on a narrow screen, where the rest must still be read. */
  isOptional?: boolean
  /** Buttons: at the right edge, under a title that only screen readers need. */
  isActions?: boolean
}

export function DataTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
  isDense = false,
}: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row): string
  /** Lower rows, for long lists. */
  isDense?: boolean
}) {
  const look = ({ isNumber, isOptional, isActions }: Column<Row>) =>
    `${isNumber ? 'text-right tabular-nums whitespace-nowrap' : isActions ? 'text-right' : 'text-left'} ` +
    `${isOptional ? 'max-md:hidden' : ''} ${isDense ? 'py-1.5' : 'py-3'} px-2 first:pl-4 last:pr-4 sm:px-4`
  return (
    <ScrollBox label={caption} className="rounded-xl border border-line bg-raised">
      <table
        className={`group/table w-full text-sm ${isDense ? '[&_td_.h-9]:h-7' : ''}`}
        data-dense={isDense || undefined}
      >
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b border-line text-caption text-soft">
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                className={`${look(column)} font-medium sm:whitespace-nowrap`}
              >
                <span className={column.isActions ? 'sr-only' : ''}>{breakable(column.title)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.length === 0 && (
            <tr>
              <td colSpan={columns.length} className="px-4 py-3 text-soft">
                Nothing yet.
              </td>
            </tr>
          )}
          {rows.map((row) => (
            <tr key={keyOf(row)} className="border-b border-line last:border-0 hover:bg-sunken/60">
              {columns.map((column) => (
                <td key={column.title} className={look(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

/** A phone has no room for "Requests/month" in one line, and no browser breaks it by itself. */
function breakable(title: string): ReactNode {
  const [first, ...rest] = title.split('/')
  return (
    <>
      {first}
      {rest.map((part) => (
        <Fragment key={part}>
          /<wbr />
          {part}
        </Fragment>
      ))}
    </>
  )
}
