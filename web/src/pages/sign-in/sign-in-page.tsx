import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { SignInInput } from '../../../../src/dashboard/contract.ts'
import { serverQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { TextField } from '../../ui/field.tsx'
import { Entrance, EntranceForm, linkLook } from './entrance.tsx'
import { useEntering } from './use-entering.ts'

const problems: Record<string, string> = {
  google_denied: 'Google sign-in was canceled. Try again, or use your password.',
  google_failed: 'Google sign-in didn’t work. Try again in a moment.',
  google_unknown: 'There’s no Rowport account for this Google account yet. Sign up first.',
  google_has_password:
    'This email uses a password. Sign in with it, or ask your administrator for a sign-in link.',
  too_often: 'Too many attempts from your network. Try again in a minute.',
  link_used: 'That sign-in link has already been used or has expired. Ask for a new one.',
}

export function SignInPage() {
  useTitle('Sign in')
  const { next = '/', problem } = useSearch({ from: '/sign-in' })
  const { data: server } = useQuery(serverQuery)
  const [input, setInput] = useState<SignInInput>({ email: '', password: '' })
  const entering = useEntering(next)
  return (
    <Entrance
      title="Sign in"
      below={
        server && (
          <>
            {server.canSignUp && (
              <p>
                No account yet?{' '}
                <Link to="/sign-up" className={linkLook}>
                  Sign up
                </Link>
              </p>
            )}
            <p>
              Forgot your password?{' '}
              {server.hasMail ? (
                <Link to="/forgot-password" className={linkLook}>
                  Reset it
                </Link>
              ) : (
                'Ask your administrator for a sign-in link.'
              )}
            </p>
          </>
        )
      }
    >
      {problem && (
        <p role="alert" className="mb-4 rounded-md bg-warn-wash px-3 py-2 text-sm text-warn">
          {problems[problem] ?? 'Please sign in again.'}
        </p>
      )}
      <EntranceForm
        next={next}
        submit="Sign in"
        isBusy={entering.isEntering}
        onSubmit={() => entering.mutate({ verb: 'POST /sign-in', input })}
      >
        <TextField
          label="Email"
          type="email"
          autoComplete="username"
          required
          value={input.email}
          onChange={({ target }) => setInput({ ...input, email: target.value })}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={input.password}
          error={entering.error?.message ?? null}
          onChange={({ target }) => setInput({ ...input, password: target.value })}
        />
      </EntranceForm>
    </Entrance>
  )
}
