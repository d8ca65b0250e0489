import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { send } from '../../api.ts'
import { basePath } from '../../base-path.ts'
import { sessionQuery, useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'

export function DangerSection() {
  const { account } = useSession()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [isAsking, setIsAsking] = useState(false)
  const [typed, setTyped] = useState('')
  const remove = useMutation({
    mutationFn: () => send('POST', '/account/delete', { confirmSlug: typed }),
    onSuccess: async () => {
      await navigate({ to: '/sign-in' })
      queryClient.clear()
      queryClient.setQueryData(sessionQuery.queryKey, null)
    },
  })
  return (
    <section className="rounded-xl border border-bad/40 p-5">
      <h2 className="mb-1 text-base font-semibold">Your data</h2>
      <p className="mb-4 text-sm text-soft">
        Sheets, settings, keys (without their values) and usage, as one JSON file.
      </p>
      <a
        href={`${basePath}/dashboard/api/export`}
        download
        className="inline-flex h-9 items-center rounded-md border border-line-strong bg-raised px-3.5 text-sm font-medium hover:bg-sunken"
      >
        Export everything
      </a>
      <h2 className="mt-6 mb-1 text-base font-semibold">Delete this account</h2>
      <p className="mb-4 text-sm text-soft">
        Your spreadsheets are not touched. Everything that Rowport keeps about them is deleted.
      </p>
      <Button look="danger" onClick={() => setIsAsking(true)}>
        Delete account
      </Button>
      <ConfirmDialog
        title={`Delete ${account.slug}?`}
        confirm="Delete for ever"
        isOpen={isAsking}
        isBusy={remove.isPending}
        error={remove.error?.message}
        onConfirm={() => remove.mutate()}
        onClose={() => setIsAsking(false)}
      >
        <p className="mb-3">
          All addresses and keys stop working at once, Google is disconnected, and nothing can be restored.
        </p>
        <TextField
          label={`Type ${account.slug} to confirm`}
          autoComplete="off"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </ConfirmDialog>
    </section>
  )
}
