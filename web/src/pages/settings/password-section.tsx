import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { PasswordInput } from '../../../../src/dashboard/contract.ts'
import { Refused, send } from '../../api.ts'
import { sessionQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { FormError, TextField } from '../../ui/field.tsx'
import { NewPasswordField } from '../../ui/new-password-field.tsx'
import { Section } from '../../ui/section.tsx'
import { useToast } from '../../ui/toast.tsx'

const changePassword = (input: PasswordInput) => send('POST /password', { input })

export function PasswordSection() {
  const { owner } = useSession()
  const queryClient = useQueryClient()
  const toast = useToast()
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [email, setEmail] = useState('')
  const change = useMutation({
    mutationFn: changePassword,
    onSuccess: async () => {
      setCurrent('')
      setNext('')
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
      toast('Password saved. Other sessions were signed out.')
    },
  })
  const refusal = change.error instanceof Refused ? change.error : null
  const errorOf = (field: string) => (refusal?.field === field ? refusal.message : null)
  return (
    <Section
      title={owner.hasPassword ? 'Change password' : 'Set a password'}
      about={
        owner.hasPassword
          ? 'Other signed-in browsers will have to sign in again.'
          : 'Sign in without a link and confirm sensitive actions.'
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate({
            current: owner.hasPassword ? current : null,
            next,
            ...(owner.email === null && { email }),
          })
        }}
      >
        {owner.email === null && (
          <TextField
            label="Email"
            type="email"
            autoComplete="username"
            required
            value={email}
            error={errorOf('email')}
            hint="You’ll sign in with this."
            onChange={({ target }) => setEmail(target.value)}
          />
        )}
        {owner.hasPassword && (
          <TextField
            label="Current password"
            type="password"
            autoComplete="current-password"
            required
            value={current}
            error={errorOf('current')}
            onChange={({ target }) => setCurrent(target.value)}
          />
        )}
        <NewPasswordField label="New password" value={next} error={errorOf('next')} onChange={setNext} />
        <FormError>{refusal?.field ? null : change.error?.message}</FormError>
        <Button type="submit" isBusy={change.isPending}>
          {owner.hasPassword ? 'Change password' : 'Set password'}
        </Button>
      </form>
    </Section>
  )
}
