import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { send } from '../../api.ts'
import { sessionQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Section } from '../../ui/section.tsx'
import { canBeSlug, SlugField } from '../../ui/slug-field.tsx'
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
      toast('Account URL updated.')
    },
  })
  return (
    <Section title="Account URL" about="Appears in all your by-name URLs.">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setIsAsking(true)
        }}
      >
        <SlugField
          label="URL name"
          value={slug}
          hint={`${server.baseUrl}/api/sheets/${slug}/…`}
          onChange={setSlug}
        />
        <Button type="submit" disabled={slug === account.slug || !canBeSlug(slug)}>
          Change
        </Button>
      </form>
      <ConfirmDialog
        title="Change the account URL?"
        confirm="Change URL"
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
          URLs under <strong className="font-mono">/api/sheets/{account.slug}/…</strong> will stop working
          immediately. By-ID URLs (/v1/sheets/…) and keys keep working.
        </p>
      </ConfirmDialog>
    </Section>
  )
}
