import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ApiDescription, ErrorDoc } from '../../../../src/dashboard/contract.ts'
import { descriptionQuery, errorsQuery, sheetsQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { useTitle } from '../../shell/use-title.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { SelectField } from '../../ui/field.tsx'
import { ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { operationsOf } from './open-api.ts'
import { OperationDoc } from './operation-doc.tsx'
import { Prose } from './prose.tsx'

/** The reference, made from the API's own description, with the owner's addresses filled in. */
export function DocsPage() {
  useTitle('Docs')
  const { sheet: chosen } = useSearch({ from: '/owners/docs' })
  const navigate = useNavigate({ from: '/docs' })
  const sheets = useQuery(sheetsQuery)
  const sheet = chosen || sheets.data?.[0]?.slug || ''
  const description = useQuery({ ...descriptionQuery(sheet), enabled: sheets.isSuccess })
  const errors = useQuery(errorsQuery)
  const failed = [sheets, description, errors].find(({ error, data }) => error && !data)
  return (
    <>
      <PageHeader title="Docs">API reference with your own URLs.</PageHeader>
      {failed ? (
        <ErrorState error={failed.error} onRetry={() => failed.refetch()} />
      ) : sheets.data && description.data && errors.data ? (
        <>
          {sheets.data.length > 1 && (
            <div className="max-w-64">
              <SelectField
                label="Sheet in the examples"
                value={sheet}
                onChange={({ target }) => void navigate({ search: { sheet: target.value }, replace: true })}
              >
                {sheets.data.map(({ slug }) => (
                  <option key={slug}>{slug}</option>
                ))}
              </SelectField>
            </div>
          )}
          <Reference description={description.data} errors={errors.data} />
        </>
      ) : (
        // All at once: one part that comes later would push the others down.
        <Skeleton lines={14} />
      )}
    </>
  )
}

function Reference({ description, errors }: { description: ApiDescription; errors: readonly ErrorDoc[] }) {
  const { server } = useSession()
  return (
    <>
      <section className="mb-8">
        <h2 className="mb-2 text-lg font-semibold tracking-tight">Authentication</h2>
        <p className="mb-3 text-sm text-soft">
          Send your key with every request. <code className="font-mono">X-API-Key</code> works too. Avoid{' '}
          <code className="font-mono">?api_key=</code>: URLs end up in logs.
        </p>
        <CodeBlock label="How to send the key" code="Authorization: Bearer YOUR_API_KEY" />
      </section>
      <section className="mb-8 space-y-2">
        <h2 className="text-lg font-semibold tracking-tight">Requests</h2>
        {operationsOf(description).map((operation) => (
          <OperationDoc
            key={`${operation.method} ${operation.path}`}
            operation={operation}
            baseUrl={server.baseUrl}
          />
        ))}
      </section>
      <section>
        <h2 className="mb-3 text-lg font-semibold tracking-tight">Errors</h2>
        <ErrorList errors={errors} />
      </section>
    </>
  )
}

function ErrorList({ errors }: { errors: readonly ErrorDoc[] }) {
  return (
    <dl className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-raised text-sm">
      {errors.map(({ code, status, message, when }) => (
        <div key={code} className="grid gap-x-6 gap-y-1 px-4 py-3 md:grid-cols-[16rem_minmax(0,1fr)]">
          <dt className="flex items-baseline gap-3">
            <span className="text-soft tabular-nums">{status}</span>
            <code className="font-mono text-[13px] font-medium wrap-anywhere">{code}</code>
          </dt>
          <dd>
            {message}
            <span className="block text-soft">
              <Prose text={when} />
            </span>
          </dd>
        </div>
      ))}
    </dl>
  )
}
