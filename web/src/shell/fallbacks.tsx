import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { serverQuery } from '../queries.ts'
import { ButtonLink } from '../ui/button.tsx'
import { EmptyState, ErrorState, Skeleton } from '../ui/states.tsx'
import { PageNotLoaded } from './page-loading.ts'
import { useTitle } from './use-title.ts'

export function NotFound() {
  useTitle('Page not found')
  return (
    <main className="mx-auto max-w-xl px-5 py-24">
      <h1 className="sr-only">Page not found</h1>
      <EmptyState
        title="Page not found"
        action={
          <ButtonLink look="primary" to="/">
            Go home
          </ButtonLink>
        }
      >
        The page may have moved, or the link may be mistyped.
      </EmptyState>
    </main>
  )
}

/** Where not even the frame can be shown. */
export function PageFailed({ error }: { error: unknown }) {
  useTitle('Something went wrong')
  return (
    <main className="mx-auto max-w-xl px-5 py-24">
      <h1 className="sr-only">Something went wrong</h1>
      <ErrorState error={error} onRetry={() => window.location.reload()} />
    </main>
  )
}

/** In the frame. It reloads only once the server responds: a page that cannot be loaded again is lost altogether. */
export function PartFailed({ error }: { error: unknown }) {
  useTitle('Something went wrong')
  const queryClient = useQueryClient()
  const [stillAway, setStillAway] = useState<unknown>(null)
  async function retry() {
    try {
      await queryClient.fetchQuery({ ...serverQuery, staleTime: 0, retry: false })
      window.location.reload()
    } catch (failure) {
      setStillAway(failure)
    }
  }
  return (
    <>
      <h1 className="sr-only">Something went wrong</h1>
      <ErrorState error={stillAway ?? error} onRetry={() => void retry()}>
        {error instanceof PageNotLoaded &&
          'This page couldn’t be loaded. Check your connection and try again.'}
      </ErrorState>
    </>
  )
}

/** While the code of a page is on its way. */
export function PageLoading() {
  return <Skeleton lines={8} />
}
