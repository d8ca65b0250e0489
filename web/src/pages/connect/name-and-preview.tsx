import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import type { ConnectInput, PreviewView, SheetSource } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { previewQuery, sheetsQuery, slugCheckQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { FormError } from '../../ui/field.tsx'
import { shownNumber } from '../../ui/number.ts'
import { ScrollBox } from '../../ui/scroll-box.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { canBeSlug, SlugField } from '../../ui/slug-field.tsx'
import { Card, ErrorState, Skeleton } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'
import { AccessChoices, type SheetAccess, whatBecomesPublic } from '../sheets/sheet-access.tsx'

const connectSheet = (input: ConnectInput) => send('POST /sheets', { input })

/** The rows as clients will get them, and the address under which they will. */
export function NameAndPreview({ source }: { source: SheetSource }) {
  const preview = useQuery(previewQuery(source))
  if (preview.isPending) return <Skeleton lines={9} label="Reading the sheet" />
  if (!preview.data) return <ErrorState error={preview.error} onRetry={() => preview.refetch()} />
  return <Form source={source} preview={preview.data} />
}

function Form({ source, preview }: { source: SheetSource; preview: PreviewView }) {
  const { account, server } = useSession()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  const [slug, setSlug] = useState(preview.suggestedSlug)
  const [access, setAccess] = useState<SheetAccess>('private')
  const checked = useDeferredValue(slug)
  const check = useQuery({ ...slugCheckQuery(checked), enabled: canBeSlug(checked) })
  const connect = useMutation({
    mutationFn: connectSheet,
    onSuccess: async (_view, { slug, access }) => {
      await queryClient.invalidateQueries({ queryKey: sheetsQuery.queryKey })
      toast(
        access === 'public-read'
          ? 'Connected. Anyone with the URL can read it.'
          : 'Connected. The API is live.',
      )
      await navigate({ to: '/sheets/$slug', params: { slug } })
    },
  })
  return (
    <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,22rem)_minmax(0,1fr)]">
      <Card title="URL and access">
        <form
          className="space-y-3"
          onSubmit={(event) => {
            event.preventDefault()
            connect.mutate({ slug, access, source })
          }}
        >
          <SlugField
            label="URL name"
            value={slug}
            error={check.data?.problem ?? null}
            hint={
              <>
                {server.baseUrl}/api/sheets/{account.slug}/<wbr />
                {slug}
              </>
            }
            onChange={setSlug}
          />
          <AccessChoices value={access} onChange={setAccess} />
          <p role="status" className="rounded-md bg-warn-wash px-3 py-2 text-caption text-warn empty:hidden">
            {access === 'public-read' && whatBecomesPublic(preview.rowCount)}
          </p>
          <FormError>{connect.error?.message}</FormError>
          <Button
            type="submit"
            look="primary"
            className="mt-2 w-full"
            disabled={!canBeSlug(slug) || Boolean(check.data?.problem)}
            isBusy={connect.isPending}
          >
            Connect this sheet
          </Button>
        </form>
      </Card>
      <Card title={`Preview of “${preview.title}”`}>
        <p className="mb-3 text-sm text-soft">
          {counted(preview.columns.length, 'column')}, {counted(preview.rowCount, 'row')}.{' '}
          {'path' in source ? 'Not live yet.' : 'Nothing has been saved yet.'}
        </p>
        {preview.notes.length > 0 && (
          <ul className="mb-3 list-disc rounded-md bg-warn-wash py-2 pr-3 pl-7 text-caption text-warn">
            {preview.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        )}
        <FirstRows preview={preview} />
      </Card>
    </div>
  )
}

/** As programs get them, and as people know them. */
function FirstRows({ preview: { columns, rows } }: { preview: PreviewView }) {
  const [shape, setShape] = useState('JSON')
  const numbered = rows.map((cells, at) => ({ at, cells }))
  return (
    <>
      <div className="mb-3">
        <Segmented
          label="Show the first rows as"
          value={shape}
          choices={[
            { value: 'JSON', title: 'JSON' },
            { value: 'Table', title: 'Table' },
          ]}
          onChange={setShape}
        />
      </div>
      {shape === 'JSON' ? (
        <ScrollBox
          label="The first rows as JSON"
          className="max-h-96 rounded-lg border border-line bg-sunken p-4"
        >
          <pre className="font-mono text-caption leading-relaxed">{JSON.stringify(rows, null, 2)}</pre>
        </ScrollBox>
      ) : (
        <DataTable
          caption="The first rows"
          isDense
          rows={numbered}
          keyOf={({ at }) => String(at)}
          columns={columns.map(({ name }) => ({
            title: name,
            cell: ({ cells }: (typeof numbered)[number]) => (
              <span className="line-clamp-2 max-w-60">{String(cells[name] ?? '·')}</span>
            ),
          }))}
        />
      )}
    </>
  )
}

function counted(count: number, what: string): string {
  return `${shownNumber(count)} ${what}${count === 1 ? '' : 's'}`
}
