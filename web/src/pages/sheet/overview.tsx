import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ColumnView, SheetView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { keysQuery, rowsOfQuery, sheetQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Fact } from '../../ui/fact.tsx'
import { FormError } from '../../ui/field.tsx'
import { shownNumber } from '../../ui/number.ts'
import { Card } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import { isActive } from '../keys/key-state.tsx'
import { useSheet } from './sheet-query.ts'
import { Snippets } from './snippet-tabs.tsx'
import { snippetsFor } from './snippets.ts'

const refreshSheet = ({ slug }: { slug: string }) => send('POST /sheets/{slug}/refresh', { names: { slug } })

export function Overview() {
  const sheet = useSheet()
  const { server } = useSession()
  return (
    <div className="space-y-6">
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <Fact name="Rows">{sheet.rowCount === null ? '–' : shownNumber(sheet.rowCount)}</Fact>
        <Fact name="Columns">{sheet.columns.length === 0 ? '–' : sheet.columns.length}</Fact>
        <Fact name="Requests this month" hint="Includes errors">
          {shownNumber(sheet.requestsThisMonth)}
        </Fact>
        <Fact name="Last request">
          <Ago atMs={sheet.lastRequestAtMs} />
        </Fact>
      </dl>
      <div className="grid grid-cols-1 gap-6 lg:grid-cols-2">
        <WhoCanRead sheet={sheet} />
        <Freshness sheet={sheet} />
      </div>
      <Card title="Endpoints">
        <p className="mb-1 text-caption text-soft">By name: returns a plain array</p>
        <CopyLine text={`${server.baseUrl}${sheet.paths.formA}`} label="URL by name" />
        <p className="mt-3 mb-1 text-caption text-soft">
          By ID: returns rows with totals and metadata. Never changes, even if you rename the sheet or account
        </p>
        <CopyLine text={`${server.baseUrl}${sheet.paths.formB}`} label="URL by ID" />
      </Card>
      <Card title="Code examples">
        <Snippets snippets={snippetsFor(sheet, server.baseUrl)} />
      </Card>
      {sheet.columns.length > 0 && (
        <section>
          <h2 className="mb-3 text-base font-semibold tracking-tight">Columns</h2>
          <DataTable
            caption="Columns"
            rows={sheet.columns}
            keyOf={({ name }) => name}
            columns={[
              {
                title: 'Name',
                cell: ({ name }) => <span className="font-medium wrap-anywhere">{name}</span>,
              },
              { title: 'Type', cell: ({ type }) => <code className="font-mono text-caption">{type}</code> },
              { title: 'Example', cell: (column) => <Example of={column} /> },
            ]}
          />
        </section>
      )}
    </div>
  )
}

function WhoCanRead({ sheet: { slug, settings } }: { sheet: SheetView }) {
  const keys = useQuery(keysQuery)
  const open = keys.data?.filter(
    (key) =>
      isActive(key) &&
      (key.sheetSlug === null || key.sheetSlug === slug) &&
      (key.mode === 'live' || settings.accepts === 'both'),
  )
  return (
    <Card
      title="Who can read this"
      action={
        <Link
          to="/sheets/$slug/settings"
          params={{ slug }}
          className="text-caption text-accent underline underline-offset-2"
        >
          Change
        </Link>
      }
    >
      <p className="text-sm">
        {settings.access === 'public-read' ? 'Anyone with the URL, without a key.' : 'Anyone with a key.'}
      </p>
      <p className="mt-2 text-caption text-soft">
        {open === undefined
          ? '…'
          : open.length === 0
            ? 'No API key has access yet. '
            : `${open.length} ${open.length === 1 ? 'key has' : 'keys have'} access: `}
        {open?.slice(0, 5).map(({ id, name }, at) => (
          <span key={id}>
            {at > 0 && ', '}
            <Link to="/keys" search={{ q: name }} className="text-accent underline underline-offset-2">
              {name}
            </Link>
          </span>
        ))}
        {open && open.length > 5 && ` and ${open.length - 5} more`}
        {open?.length === 0 && (
          <Link to="/keys" className="text-accent underline underline-offset-2">
            Create one
          </Link>
        )}
      </p>
    </Card>
  )
}

function Freshness({ sheet: { slug, fetchedAtMs, settings } }: { sheet: SheetView }) {
  const queryClient = useQueryClient()
  const toast = useToast()
  const refresh = useMutation({
    mutationFn: refreshSheet,
    onSuccess: (view) => {
      queryClient.setQueryData(sheetQuery(view.slug).queryKey, view)
      void queryClient.invalidateQueries({ queryKey: rowsOfQuery(view.slug) })
      toast(view.state === 'broken' ? 'The spreadsheet couldn’t be read.' : 'Rows refreshed.')
    },
  })
  return (
    <Card title="Data">
      <p className="text-sm">
        Last fetched: <Ago atMs={fetchedAtMs} ifNever="–" />
      </p>
      <p className="mt-2 mb-3 text-caption text-soft">
        Rows are cached for {shownNumber(settings.cacheSeconds)}{' '}
        {settings.cacheSeconds === 1 ? 'second' : 'seconds'}.
      </p>
      <Button isBusy={refresh.isPending} onClick={() => refresh.mutate({ slug })}>
        Refresh now
      </Button>
      <FormError>{refresh.error?.message}</FormError>
    </Card>
  )
}

function Example({ of: { example } }: { of: ColumnView }) {
  if (example === null) return <span className="text-soft">empty</span>
  return <span className="line-clamp-2 max-w-96 wrap-anywhere text-soft">{String(example)}</span>
}
