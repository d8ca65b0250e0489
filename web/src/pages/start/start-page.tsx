import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { ServerView, StartView } from '../../../../src/dashboard/contract.ts'
import { startQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { useTitle } from '../../shell/use-title.ts'
import { useSources } from '../../sources.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/copy.tsx'
import { ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'

/** What to do next, as a list that ticks itself off. */
export function StartPage() {
  useTitle('Start')
  const { account, server } = useSession()
  const start = useQuery(startQuery)
  return (
    <>
      <PageHeader title={`Welcome, ${account.slug}`}>
        A spreadsheet behind a JSON API, in four steps.
      </PageHeader>
      {start.error && !start.data && <ErrorState error={start.error} onRetry={() => start.refetch()} />}
      {start.isPending && <Skeleton lines={8} />}
      {start.data && <Checklist view={start.data} server={server} />}
    </>
  )
}

function Checklist({ view, server: { baseUrl, hasFiles } }: { view: StartView; server: ServerView }) {
  const hasSource = view.isConnected || view.sheets > 0
  // The first that can be connected stands for all: the next page offers the others.
  const home = useSources().connectable.find(({ isOffered }) => isOffered)
  const steps = [hasSource, view.sheets > 0, view.keys > 0, view.firstRequestAtMs !== null]
  const current = steps.indexOf(false)
  return (
    <>
      <ol className="overflow-hidden rounded-xl border border-line bg-raised">
        <Step
          number={1}
          isDone={hasSource}
          isCurrent={current === 0}
          title={home ? `Connect ${home.name}, or take a file` : 'Choose a file'}
          action={
            <ButtonLink look="primary" to="/connect">
              {home ? `Connect ${home.name}` : 'Choose a file'}
            </ButtonLink>
          }
        >
          {home && `A ${home.name} spreadsheet stays where it is, and everybody goes on editing it there. `}
          {hasFiles && 'Of a file, Rowport keeps a copy; later changes to your own file do not arrive here.'}
        </Step>
        <Step
          number={2}
          isDone={view.sheets > 0}
          isCurrent={current === 1}
          title="Connect a sheet"
          action={
            <ButtonLink look="primary" to="/connect">
              Connect a sheet
            </ButtonLink>
          }
        >
          {view.sheets > 0
            ? `${view.sheets} connected.`
            : 'Row 1 gives the names of the fields; every row below is a record.'}
        </Step>
        <Step
          number={3}
          isDone={view.keys > 0}
          isCurrent={current === 2}
          title="Make an API key"
          action={
            <ButtonLink look="primary" to="/keys">
              Make a key
            </ButtonLink>
          }
        >
          {view.keys > 0
            ? `${view.keys} active.`
            : 'Who holds the key may read your sheets, and write if you allow it.'}
        </Step>
        <Step
          number={4}
          isDone={view.firstRequestAtMs !== null}
          isCurrent={current === 3}
          title={view.firstRequestAtMs === null ? 'Send the first request' : 'First request seen'}
        >
          {view.firstRequestAtMs === null ? (
            'This step ticks itself off as soon as the request arrives.'
          ) : (
            <Ago atMs={view.firstRequestAtMs} />
          )}
          {view.tryPath && view.firstRequestAtMs === null && (
            <div className="mt-3">
              <CodeBlock
                label="The first request, for a terminal"
                code={`curl -H 'Authorization: Bearer YOUR_API_KEY' \\\n  ${baseUrl}${view.tryPath}`}
              />
            </div>
          )}
        </Step>
      </ol>
      {current === -1 && (
        <div className="mt-5 flex flex-wrap items-center gap-x-4 gap-y-3 text-sm text-soft">
          All done. From here:
          <span className="flex flex-wrap gap-2">
            <ButtonLink to="/sheets">Your sheets</ButtonLink>
            <ButtonLink to="/usage">What is asked for</ButtonLink>
            <ButtonLink to="/docs">The reference</ButtonLink>
          </span>
        </div>
      )}
    </>
  )
}

function Step({
  number,
  isDone,
  isCurrent,
  title,
  action,
  children,
}: {
  number: number
  isDone: boolean
  isCurrent: boolean
  title: string
  action?: ReactNode
  children: ReactNode
}) {
  return (
    <li
      aria-current={isCurrent ? 'step' : undefined}
      className="flex gap-4 border-b border-line p-5 last:border-0"
    >
      <span
        aria-hidden="true"
        className={`mt-0.5 flex size-7 shrink-0 items-center justify-center rounded-full text-sm font-semibold ${isDone ? 'bg-good-wash text-good' : isCurrent ? 'bg-accent text-accent-ink' : 'bg-sunken text-soft'}`}
      >
        {isDone ? '✓' : number}
      </span>
      <div className="min-w-0 flex-1">
        <h2 className="font-semibold">
          {title}
          <span className="sr-only">{isDone ? ' (done)' : ''}</span>
        </h2>
        <div className="mt-0.5 text-sm text-soft">{children}</div>
        {isCurrent && action && <div className="mt-3">{action}</div>}
      </div>
    </li>
  )
}
