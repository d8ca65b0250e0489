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
  const whatHappensToRows = `Files that you uploaded here are deleted with everything written to them. Spreadsheets at ${connectableNames('or')} are not touched.`
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
    <Section title="Delete this account" about="There is no way back from here." isDangerous>
      <p className="mb-4 text-sm text-soft">Everything that Rowport keeps is deleted. {whatHappensToRows}</p>
      <Button look="danger" onClick={() => setIsAsking(true)}>
        Delete account
      </Button>
      <ConfirmDialog
        title={`Delete ${account.slug}?`}
        confirm="Delete for ever"
        isOpen={isAsking}
        isBusy={remove.isPending}
        error={remove.error?.message}
        onConfirm={() => remove.mutate({ confirmSlug: typed })}
        onClose={() => {
          setIsAsking(false)
          remove.reset()
        }}
      >
        <p className="mb-3">
          All addresses and keys stop working at once, {connectableNames('and')}{' '}
          {connectable.length === 1 ? 'is' : 'are'} disconnected, and nothing can be restored.
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
