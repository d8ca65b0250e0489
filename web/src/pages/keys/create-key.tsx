import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { KeyInput, NewKeyView } from '../../../../src/dashboard/contract.ts'
import { Refused, send } from '../../api.ts'
import { keysQuery, sheetsQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choices, FormError, SelectField, TextField } from '../../ui/field.tsx'
import { ExpiryField } from './expiry-field.tsx'
import { ScopeChoices } from './scope-choices.tsx'

const blank = { name: '', mode: 'live', scope: 'read', sheetSlug: null, expiresAtMs: null } as const

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
  const queryClient = useQueryClient()
  const [input, setInput] = useState<KeyInput>(blank)
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
          hint="A name to help you recognize it."
          value={input.name}
          error={refusal?.field === 'name' ? refusal.message : null}
          onChange={({ target }) => setInput({ ...input, name: target.value })}
        />
        <ScopeChoices value={input.scope} onChange={(scope) => setInput({ ...input, scope })} />
        <Choices
          legend="Mode"
          name="mode"
          value={input.mode}
          onChange={(mode) => setInput({ ...input, mode })}
          choices={[
            { value: 'live', title: 'Live', description: 'For production.' },
            { value: 'test', title: 'Test', description: 'Uses your real data, with a separate rate limit.' },
          ]}
        />
        <SelectField
          label="Access"
          value={input.sheetSlug ?? ''}
          onChange={({ target }) => setInput({ ...input, sheetSlug: target.value || null })}
        >
          <option value="">All sheets, including future ones</option>
          {sheets.data?.map(({ slug }) => (
            <option key={slug} value={slug}>
              {slug} only
            </option>
          ))}
        </SelectField>
        <ExpiryField
          expiresAtMs={input.expiresAtMs ?? null}
          error={refusal?.field === 'expiresAtMs' ? refusal.message : null}
          onChange={(expiresAtMs) => setInput({ ...input, expiresAtMs })}
        />
        <FormError>{refusal?.field ? null : create.error?.message}</FormError>
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
