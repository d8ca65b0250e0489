import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import type { FormView, FormWishInput } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { formGuessQuery, formsQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { EmptyState, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'
import { draftOfForm } from './form-draft.ts'
import { FormEditor } from './form-editor.tsx'
import { FormSharing } from './form-sharing.tsx'
import { FormState } from './forms-page.tsx'
import { HeldEntries } from './held-entries.tsx'

const changeForm = ({ id, wish }: { id: string; wish: FormWishInput }) =>
  send('POST /forms/{id}', { names: { id }, input: wish })

export function FormPage() {
  const { id } = useParams({ from: '/owners/forms/$id' })
  const { view = 'edit' } = useSearch({ from: '/owners/forms/$id' })
  const forms = useQuery(formsQuery)
  const form = forms.data?.find((each) => each.id === id)
  useTitle(form?.name ?? 'Form')
  if (!form) {
    return (
      <>
        <PageHeader title="Form" />
        {forms.isPending ? (
          <Skeleton lines={8} />
        ) : forms.data ? (
          <NoSuchForm />
        ) : (
          <ErrorState error={forms.error} onRetry={() => forms.refetch()} />
        )}
      </>
    )
  }
  const views = [
    { view: 'edit', label: 'Edit' },
    { view: 'share', label: 'Share' },
    { view: 'held', label: form.held === 0 ? 'Held entries' : `Held entries (${form.held})` },
  ] as const
  return (
    <>
      <PageHeader title={form.name} action={<FormState isOpen={form.isOpen} />}>
        Fills{' '}
        <Link
          to="/sheets/$slug"
          params={{ slug: form.sheetSlug }}
          className="text-accent underline underline-offset-2"
        >
          {form.sheetSlug}
        </Link>
      </PageHeader>
      <nav aria-label="Parts of this form" className="mb-6 border-b border-line">
        <ul className="flex sm:gap-1">
          {views.map((each) => (
            <li key={each.view}>
              <Link
                to="/forms/$id"
                params={{ id }}
                search={{ view: each.view }}
                aria-current={each.view === view ? 'page' : undefined}
                className="block border-b-2 border-transparent px-2 py-2 text-sm text-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink sm:px-3"
              >
                {each.label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      {view === 'edit' && <Editing key={id} form={form} />}
      {view === 'share' && <FormSharing form={form} />}
      {view === 'held' && <HeldEntries form={form} />}
    </>
  )
}

function Editing({ form }: { form: FormView }) {
  const queryClient = useQueryClient()
  const toast = useToast()
  const guess = useQuery(formGuessQuery(form.sheetSlug))
  const change = useMutation({
    mutationFn: changeForm,
    onSuccess: ({ name }) => {
      void queryClient.invalidateQueries({ queryKey: formsQuery.queryKey })
      toast(`${name} saved.`)
    },
  })
  // Asked again after a failure it is pending as at first; the editor has somebody's words in it by then.
  if (guess.isPending && !guess.isFetched) return <Skeleton lines={8} label="Looking at the sheet" />
  // Without the sheet's columns everything but them can still be changed.
  const known = guess.data ?? { columns: [], fields: [], set: [] }
  return (
    <FormEditor
      start={draftOfForm(form)}
      guess={known}
      save="Save form"
      isBusy={change.isPending}
      error={change.error}
      onSave={(wish) => change.mutate({ id: form.id, wish })}
    />
  )
}

function NoSuchForm() {
  return (
    <EmptyState title="Form not found" action={<ButtonLink to="/forms">All forms</ButtonLink>}>
      Perhaps it was deleted, here or by a command.
    </EmptyState>
  )
}
