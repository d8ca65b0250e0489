import { ButtonLink } from '../ui/button.tsx'
import { EmptyState, ErrorState } from '../ui/states.tsx'
import { useTitle } from './use-title.ts'

export function NotFound() {
  useTitle('Not found')
  return (
    <main className="mx-auto max-w-xl px-5 py-24">
      <EmptyState
        title="There is nothing at this address"
        action={
          <ButtonLink look="primary" to="/">
            Go to the start
          </ButtonLink>
        }
      >
        The page may have moved, or the link may be mistyped.
      </EmptyState>
    </main>
  )
}

export function PageFailed({ error }: { error: unknown }) {
  useTitle('Something went wrong')
  return (
    <main className="mx-auto max-w-xl px-5 py-24">
      <h1 className="sr-only">Something went wrong</h1>
      <ErrorState error={error} onRetry={() => window.location.reload()} />
    </main>
  )
}
