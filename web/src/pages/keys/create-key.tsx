import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { KeyInput, NewKeyView } from '../../../../src/dashboard/contract.ts'
import { Refused, send } from '../../api.ts'
import { keysQuery, sheetsQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choices, FormError, SelectField, TextField } from '../../ui/field.tsx'

const blank: KeyInput = { name: '', mode: 'live', scope: 'read', sheetSlug: null }

const createKey = (input: KeyInput) => send('POST /keys', { input })

export function CreateKey({
  isOpen,
  onClose,
  onMade,
}: {
  isOpen: boolean
  onClose(): void
  onMade(made: NewKeyView): void
}) {
  const { account } = useSession()
  const queryClient = useQueryClient()
  const [input, setInput] = useState(blank)
  const sheets = useQuery({ ...sheetsQuery, enabled: isOpen })
  const create = useMutation({
    mutationFn: createKey,
    onSuccess: (made) => {
      void queryClient.invalidateQueries({ queryKey: keysQuery.queryKey })
      onMade(made)
    },
  })
  const { reset } = create
  useEffect(() => {
    if (!isOpen) return
    setInput(blank)
    reset()
  }, [isOpen, reset])
  const refusal = create.error instanceof Refused ? create.error : null
  return (
    <Dialog title="Create an API key" isOpen={isOpen} isLocked={create.isPending} onClose={onClose}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate(input)
        }}
      >
        <TextField
          label="Name"
          required
          maxLength={100}
          placeholder="Website, nightly import, …"
          hint="So that you recognise it later."
          value={input.name}
          error={refusal?.field === 'name' ? refusal.message : null}
          onChange={({ target }) => setInput({ ...input, name: target.value })}
        />
        <Choices
          legend="What it may do"
          name="scope"
          value={input.scope}
          onChange={(scope) => setInput({ ...input, scope })}
          choices={[
            { value: 'read', title: 'Read', description: 'See rows, change nothing.' },
            {
              value: 'read-write',
              title: 'Read and write',
              description: account.plan.writeApi
                ? 'Add, change and delete rows.'
                : 'Your plan reads only; upgrade to write.',
            },
          ]}
        />
        <Choices
          legend="What it is for"
          name="mode"
          value={input.mode}
          onChange={(mode) => setInput({ ...input, mode })}
          choices={[
            { value: 'live', title: 'Live', description: 'For what your users depend on.' },
            { value: 'test', title: 'Test', description: 'The same rows, a rate limit of its own.' },
          ]}
        />
        <SelectField
          label="Opens"
          value={input.sheetSlug ?? ''}
          onChange={({ target }) => setInput({ ...input, sheetSlug: target.value || null })}
        >
          <option value="">All sheets, also those to come</option>
          {sheets.data?.map(({ slug }) => (
            <option key={slug} value={slug}>
              Only {slug}
            </option>
          ))}
        </SelectField>
        <FormError>{refusal?.field === 'name' ? null : create.error?.message}</FormError>
        <div className="flex justify-end gap-2">
          <Button disabled={create.isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" isBusy={create.isPending}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
