import { useQuery } from '@tanstack/react-query'
import type { FormEvent, ReactNode } from 'react'
import { serverQuery } from '../../queries.ts'
import { Logo } from '../../shell/logo.tsx'
import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/field.tsx'
import { GoogleLink } from '../../ui/google-link.tsx'

/** The frame of the pages before signing in. */
export function Entrance({
  title,
  children,
  below,
}: {
  title: string
  children: ReactNode
  below?: ReactNode
}) {
  return (
    <main className="mx-auto flex min-h-dvh max-w-sm flex-col justify-center px-5 py-12">
      <div className="mb-8">
        <Logo />
      </div>
      <h1 className="mb-5 text-2xl font-semibold tracking-tight">{title}</h1>
      {children}
      {below && <div className="mt-6 space-y-2 text-sm text-soft">{below}</div>}
    </main>
  )
}

/** Google where this server has it, else or besides the fields; shown at once, when it is known which. */
export function EntranceForm({
  next,
  submit,
  isBusy,
  error,
  onSubmit,
  children,
}: {
  next: string
  submit: string
  isBusy: boolean
  /** An error of no field in particular. */
  error?: string | null | undefined
  onSubmit(): void
  children: ReactNode
}) {
  const server = useQuery(serverQuery)
  // Asked again after a failure it is pending as at first; somebody may be typing by then.
  if (server.isPending && !server.isFetched) return <div className="h-80" />
  return (
    <>
      {server.data?.hasGoogle && (
        <>
          <GoogleLink next={next} />
          <div className="my-5 flex items-center gap-3 text-caption text-soft">
            <span className="h-px flex-1 bg-line" />
            or
            <span className="h-px flex-1 bg-line" />
          </div>
        </>
      )}
      <form
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          onSubmit()
        }}
      >
        {children}
        <FormError>{error}</FormError>
        <Button type="submit" look="primary" className="mt-1 h-10 w-full" isBusy={isBusy}>
          {submit}
        </Button>
      </form>
    </>
  )
}

export const linkLook = 'rounded-sm text-accent underline underline-offset-2'
