import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { KeyChangeInput, KeyView } from '../../../../src/dashboard/contract.ts'
import { Refused, send } from '../../api.ts'
import { keysQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FormError, TextField } from '../../ui/field.tsx'
import { useToast } from '../../ui/toast.tsx'
import { ExpiryField } from './expiry-field.tsx'
import { ScopeChoices } from './scope-choices.tsx'

const changeKey = ({ id, input }: { id: string; input: KeyChangeInput }) =>
  send('PATCH /keys/{id}', { names: { id }, input })

/** What can be changed without giving anybody another key. */
export function EditKey({ of: key, onClose }: { of: KeyView | null; onClose(): void }) {
  const queryClient = useQueryClient()
  const toast = useToast()
  const [input, setInput] = useState({
    name: '',
    scope: 'read' as KeyView['scope'],
    expiresAtMs: null as number | null,
  })
  const change = useMutation({
    mutationFn: changeKey,
    onSuccess: ({ name }) => {
      void queryClient.invalidateQueries({ queryKey: keysQuery.queryKey })
      toast(`${name} saved.`)
      onClose()
    },
  })
  const { reset } = change
  const id = key?.id
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed stays while the list is asked for again
  useEffect(() => {
    if (key) setInput({ name: key.name, scope: key.scope, expiresAtMs: key.expiresAtMs })
    reset()
  }, [id, reset])
  const refusal = change.error instanceof Refused ? change.error : null
  const errorOf = (field: string) => (refusal?.field === field ? refusal.message : null)
  return (
    <Dialog title={`Edit “${key?.name}”`} isOpen={key !== null} isLocked={change.isPending} onClose={onClose}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (key) change.mutate({ id: key.id, input })
        }}
      >
        <TextField
          label="Name"
          required
          maxLength={100}
          value={input.name}
          error={errorOf('name')}
          onChange={({ target }) => setInput({ ...input, name: target.value })}
        />
        <ScopeChoices value={input.scope} onChange={(scope) => setInput({ ...input, scope })} />
        <ExpiryField
          expiresAtMs={input.expiresAtMs}
          error={errorOf('expiresAtMs')}
          onChange={(expiresAtMs) => setInput({ ...input, expiresAtMs })}
        />
        <p className="text-caption text-soft">
          Changes take effect immediately. The key itself stays the same.
        </p>
        <FormError>{refusal?.field ? null : change.error?.message}</FormError>
        <div className="flex justify-end gap-2">
          <Button disabled={change.isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" isBusy={change.isPending}>
            Save key
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
