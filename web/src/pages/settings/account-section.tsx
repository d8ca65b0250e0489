import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { send } from '../../api.ts'
import { sessionQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { useToast } from '../../ui/toast.tsx'

const renameAccount = (input: { slug: string }) => send('PATCH /account', { input })

export function AccountSection() {
  const { account, server } = useSession()
  const queryClient = useQueryClient()
  const toast = useToast()
  const [slug, setSlug] = useState(account.slug)
  const [isAsking, setIsAsking] = useState(false)
  const rename = useMutation({
    mutationFn: renameAccount,
    onSuccess: (session) => {
      queryClient.setQueryData(sessionQuery.queryKey, session)
      void queryClient.invalidateQueries()
      setIsAsking(false)
      toast('The account has its new address.')
    },
  })
  return (
    <Section title="Account address" about="The first part of every address by name.">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setIsAsking(true)
        }}
      >
        <TextField
          label="Address"
          required
          autoComplete="off"
          spellCheck={false}
          value={slug}
          hint={`${server.baseUrl}/api/sheets/${slug}/…`}
          onChange={({ target }) => setSlug(target.value)}
        />
        <Button type="submit" disabled={slug === account.slug || slug === ''}>
          Change
        </Button>
      </form>
      <ConfirmDialog
        title="Change the account's address?"
        confirm="Change address"
        isOpen={isAsking}
        isBusy={rename.isPending}
        error={rename.error?.message}
        onConfirm={() => rename.mutate({ slug })}
        onClose={() => {
          setIsAsking(false)
          rename.reset()
        }}
      >
        <p>
          Every address under <strong className="font-mono">/api/sheets/{account.slug}/…</strong> stops
          working at once. Addresses by id (/v1/sheets/…) and keys go on.
        </p>
      </ConfirmDialog>
    </Section>
  )
}
