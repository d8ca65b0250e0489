import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { FormView } from '../../../../src/dashboard/contract.ts'
import { basePath } from '../../base-path.ts'
import { formsQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useFirst } from '../../ui/list/list-tools.tsx'
import { Badge, EmptyState, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'

export function FormsPage() {
  useTitle('Forms')
  const forms = useQuery(formsQuery)
  const all = forms.data ?? []
  const { shown, more } = useFirst(all)
  const create = (
    <ButtonLink look="primary" to="/forms/new">
      Create form
    </ButtonLink>
  )
  const docs = (
    <a href={`${basePath}/docs/forms`} className="text-accent underline underline-offset-2">
      How forms work
    </a>
  )
  return (
    <>
      <PageHeader title="Forms" action={all.length > 0 && create}>
        Anyone with the link adds a row to a sheet, without a key or a script. {docs}
      </PageHeader>
      {forms.isPending && <Skeleton lines={6} />}
      {forms.error && !forms.data && <ErrorState error={forms.error} onRetry={() => forms.refetch()} />}
      {forms.data?.length === 0 && (
        <EmptyState title="No forms yet" action={create}>
          Pick a sheet and Rowport suggests the fields from its columns. Share the link or paste the HTML into
          your own page.
        </EmptyState>
      )}
      {shown.length > 0 && (
        <DataTable
          caption="Forms"
          rows={shown}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Form', cell: (form) => <FormName of={form} /> },
            { title: 'Sheet', isOptional: true, cell: ({ sheetSlug }) => sheetSlug },
            {
              title: 'Fields',
              isNumber: true,
              isOptional: true,
              cell: ({ settings }) => settings.fields.length,
            },
            {
              title: 'Actions',
              isActions: true,
              cell: ({ url, name }) => (
                <a
                  href={url}
                  target="_blank"
                  rel="noreferrer"
                  className="text-accent underline underline-offset-2"
                >
                  Open<span className="sr-only"> {name} in a new tab</span>
                  <Icon name="away" className="ml-1 inline size-3.5! align-[-0.15em]" />
                </a>
              ),
            },
          ]}
        />
      )}
      {more}
    </>
  )
}

function FormName({ of: { id, name, isOpen, held, sheetSlug } }: { of: FormView }) {
  return (
    <>
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Link
          to="/forms/$id"
          params={{ id }}
          className="font-medium text-accent wrap-anywhere hover:underline hover:underline-offset-2"
        >
          {name}
        </Link>
        <FormState isOpen={isOpen} />
        {held > 0 && <Badge tone="warn">{held} held</Badge>}
      </span>
      {/* What the column says where there is room for it. */}
      <span className="block text-caption text-soft md:hidden">{sheetSlug}</span>
    </>
  )
}

export function FormState({ isOpen }: { isOpen: boolean }) {
  return isOpen ? <Badge tone="good">open</Badge> : <Badge tone="plain">closed</Badge>
}
