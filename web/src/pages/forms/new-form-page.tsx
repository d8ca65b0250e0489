import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { FormWishInput } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { formGuessQuery, formsQuery, sheetsQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { EmptyState, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'
import { draftOfGuess } from './form-draft.ts'
import { FormEditor } from './form-editor.tsx'

const createForm = (input: FormWishInput & { sheetSlug: string }) => send('POST /forms', { input })

export function NewFormPage() {
  useTitle('Create a form')
  const { sheet: slug = '' } = useSearch({ from: '/owners/forms/new' })
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const toast = useToast()
  const sheets = useQuery(sheetsQuery)
  const guess = useQuery({ ...formGuessQuery(slug), enabled: slug !== '' })
  const create = useMutation({
    mutationFn: createForm,
    onSuccess: async ({ id, name }) => {
      await queryClient.invalidateQueries({ queryKey: formsQuery.queryKey })
      toast(`${name} is open.`)
      void navigate({ to: '/forms/$id', params: { id }, search: { view: 'share' } })
    },
  })
  return (
    <>
      <PageHeader title="Create a form">
        Rowport suggests fields from the sheet’s columns and cells. Change anything.
      </PageHeader>
      {sheets.isPending && <Skeleton lines={4} />}
      {sheets.error && !sheets.data && <ErrorState error={sheets.error} onRetry={() => sheets.refetch()} />}
      {sheets.data?.length === 0 && (
        <EmptyState
          title="No sheets yet"
          action={
            <ButtonLink look="primary" to="/connect">
              Connect a sheet
            </ButtonLink>
          }
        >
          A form fills a sheet, so connect one first.
        </EmptyState>
      )}
      {sheets.data && sheets.data.length > 0 && (
        <div className="mb-2 max-w-sm">
          <SelectField
            label="Sheet"
            value={slug}
            onChange={({ target }) =>
              void navigate({ to: '/forms/new', search: { sheet: target.value }, replace: true })
            }
          >
            <option value="">Choose a sheet</option>
            {sheets.data.map((sheet) => (
              <option key={sheet.slug} value={sheet.slug}>
                {sheet.slug}
              </option>
            ))}
          </SelectField>
        </div>
      )}
      {slug !== '' && guess.isPending && <Skeleton lines={8} label="Looking at the sheet" />}
      {slug !== '' && guess.error && !guess.data && (
        <ErrorState error={guess.error} onRetry={() => guess.refetch()} />
      )}
      {slug !== '' && guess.data && (
        <FormEditor
          key={slug}
          start={draftOfGuess(slug, guess.data)}
          guess={guess.data}
          save="Create form"
          isBusy={create.isPending}
          error={create.error}
          onSave={(wish) => create.mutate({ ...wish, sheetSlug: slug })}
        />
      )}
    </>
  )
}
