import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { send } from '../../api.ts'
import { sessionQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { useSources } from '../../sources.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'

const deleteAccount = (input: { confirmSlug: string }) => send('POST /account/delete', { input })

export function DangerSection() {
  const { account } = useSession()
  const { connectable, connectableNames } = useSources()
  const whatHappensToRows = `Uploaded files are deleted with everything written to them. Spreadsheets in ${connectableNames('or')} aren’t changed.`
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [isAsking, setIsAsking] = useState(false)
  const [typed, setTyped] = useState('')
  const remove = useMutation({
    mutationFn: deleteAccount,
    onSuccess: async () => {
      await navigate({ to: '/sign-in' })
      queryClient.clear()
      queryClient.setQueryData(sessionQuery.queryKey, null)
    },
  })
  return (
    <Section title="Delete this account" about="This can’t be undone." isDangerous>
      <p className="mb-4 text-sm text-soft">
        This deletes everything Rowport stores for you. {whatHappensToRows}
      </p>
      <Button look="danger" onClick={() => setIsAsking(true)}>
        Delete account
      </Button>
      <ConfirmDialog
        title={`Delete ${account.slug}?`}
        confirm="Delete account permanently"
        isOpen={isAsking}
        isBusy={remove.isPending}
        isReady={typed === account.slug}
        error={remove.error?.message}
        onConfirm={() => remove.mutate({ confirmSlug: typed })}
        onClose={() => {
          setIsAsking(false)
          setTyped('')
          remove.reset()
        }}
      >
        <p className="mb-3">
          All URLs and keys stop working immediately, and {connectableNames('and')}{' '}
          {connectable.length === 1 ? 'is' : 'are'} disconnected. Nothing can be restored.
        </p>
        <p className="mb-3">{whatHappensToRows}</p>
        <TextField
          label={`Type ${account.slug} to confirm`}
          autoComplete="off"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </ConfirmDialog>
    </Section>
  )
}
