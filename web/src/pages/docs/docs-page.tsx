import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ErrorDoc, SheetSummary } from '../../../../src/dashboard/contract.ts'
import { get } from '../../api.ts'
import { useSession } from '../../session.ts'
import { useTitle } from '../../shell/use-title.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { SelectField } from '../../ui/field.tsx'
import { ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { type OpenApi, operationsOf } from './open-api.ts'
import { OperationDoc } from './operation-doc.tsx'

/** The reference, made from the API's own description, with the owner's addresses filled in. */
export function DocsPage() {
  useTitle('Docs')
  const { server } = useSession()
  const [chosen, setChosen] = useState('')
  const sheets = useQuery({
    queryKey: ['sheets'],
    queryFn: ({ signal }) => get<SheetSummary[]>('/sheets', signal),
  })
  const sheet = chosen || sheets.data?.[0]?.slug || ''
  const description = useQuery({
    queryKey: ['openapi', sheet],
    queryFn: ({ signal }) => get<OpenApi>(`/openapi.json?sheet=${encodeURIComponent(sheet)}`, signal),
    enabled: sheets.isSuccess,
    refetchInterval: false,
  })
  const errors = useQuery({
    queryKey: ['errors'],
    queryFn: ({ signal }) => get<ErrorDoc[]>('/errors', signal),
    refetchInterval: false,
  })
  return (
    <>
      <PageHeader title="Docs">Everything a client developer needs, with your own addresses.</PageHeader>
      {sheets.data && sheets.data.length > 1 && (
        <div className="max-w-64">
          <SelectField
            label="Sheet in the examples"
            value={sheet}
            onChange={({ target }) => setChosen(target.value)}
          >
            {sheets.data.map(({ slug }) => (
              <option key={slug}>{slug}</option>
            ))}
          </SelectField>
        </div>
      )}
      <section className="mb-8">
        <h2 className="mb-2 text-lg font-semibold tracking-tight">The key</h2>
        <p className="mb-3 text-sm text-soft">
          Send it with every request. <code className="font-mono">X-API-Key</code> works too; in the address (
          <code className="font-mono">?api_key=</code>) it ends up in logs, so avoid that.
        </p>
        <CodeBlock label="How to send the key" code="Authorization: Bearer YOUR_API_KEY" />
      </section>
      {description.isPending && <Skeleton lines={10} />}
      {description.error && <ErrorState error={description.error} onRetry={() => description.refetch()} />}
      {description.data && (
        <section className="mb-8 space-y-4">
          <h2 className="text-lg font-semibold tracking-tight">Requests</h2>
          {operationsOf(description.data).map((operation) => (
            <OperationDoc
              key={`${operation.method} ${operation.path}`}
              operation={operation}
              baseUrl={server.baseUrl}
            />
          ))}
        </section>
      )}
      <section>
        <h2 className="mb-3 text-lg font-semibold tracking-tight">Errors</h2>
        {errors.isPending && <Skeleton lines={8} />}
        {errors.error && <ErrorState error={errors.error} onRetry={() => errors.refetch()} />}
        {errors.data && (
          <DataTable
            caption="Every error code"
            rows={errors.data}
            keyOf={({ code }) => code}
            columns={[
              { title: 'Code', cell: ({ code }) => <code className="font-mono text-[13px]">{code}</code> },
              { title: 'Status', isNumber: true, cell: ({ status }) => status },
              { title: 'Message', cell: ({ message }) => message },
            ]}
          />
        )}
      </section>
    </>
  )
}
