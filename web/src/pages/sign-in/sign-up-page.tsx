import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { SignUpInput } from '../../../../src/dashboard/contract.ts'
import { Refused } from '../../api.ts'
import { useTitle } from '../../shell/use-title.ts'
import { TextField } from '../../ui/field.tsx'
import { NewPasswordField } from '../../ui/new-password-field.tsx'
import { Entrance, EntranceForm, linkLook } from './entrance.tsx'
import { useEntering } from './use-entering.ts'

export function SignUpPage() {
  useTitle('Sign up')
  const [input, setInput] = useState<SignUpInput>({ email: '', password: '', slug: '' })
  const [isSlugOwn, setIsSlugOwn] = useState(false)
  const entering = useEntering('/')
  const errorOf = (field: string) =>
    entering.error instanceof Refused && entering.error.field === field ? entering.error.message : null
  const isElsewhere = entering.error && !(entering.error instanceof Refused && entering.error.field)
  return (
    <Entrance
      title="Create your account"
      below={
        <p>
          Already have an account?{' '}
          <Link to="/sign-in" className={linkLook}>
            Sign in
          </Link>
        </p>
      }
    >
      <EntranceForm
        next="/"
        submit="Create account"
        isBusy={entering.isEntering}
        error={isElsewhere ? entering.error?.message : null}
        onSubmit={() => entering.mutate({ verb: 'POST /sign-up', input })}
      >
        <TextField
          label="Email"
          type="email"
          autoComplete="username"
          required
          value={input.email}
          error={errorOf('email')}
          onChange={({ target }) =>
            setInput({ ...input, email: target.value, slug: isSlugOwn ? input.slug : slugFrom(target.value) })
          }
        />
        <NewPasswordField
          label="Password"
          value={input.password}
          error={errorOf('password')}
          onChange={(password) => setInput({ ...input, password })}
        />
        <TextField
          label="Account URL name"
          required
          autoComplete="off"
          spellCheck={false}
          value={input.slug}
          error={errorOf('slug')}
          hint={`Part of your API’s URL: /api/sheets/${input.slug || 'you'}/…`}
          onChange={({ target }) => {
            setIsSlugOwn(true)
            setInput({ ...input, slug: target.value })
          }}
        />
      </EntranceForm>
    </Entrance>
  )
}

function slugFrom(email: string): string {
  return (email.split('@', 1)[0] ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
}
