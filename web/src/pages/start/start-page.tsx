import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { ServerView, StartView } from '../../../../src/dashboard/contract.ts'
import { sheetsQuery, startQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { useTitle } from '../../shell/use-title.ts'
import { useSources } from '../../sources.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/copy.tsx'
import { ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { Attention, Home } from './home.tsx'

/** What to do next, as a list that ticks itself off; once that is done, what there is to know. */
export function StartPage() {
  useTitle('Home')
  const { account, server } = useSession()
  const start = useQuery(startQuery)
  const sheets = useQuery(sheetsQuery)
  const view = start.data
  const isSetUp = view !== undefined && currentStep(view) === -1
  // What stands on top comes with the rest: on a slow line the page would move down under the reader's hand.
  const isWaiting = start.isPending || (view !== undefined && view.problems > 0 && sheets.isPending)
  return (
    <>
      <PageHeader title={`Welcome, ${account.slug}`}>
        {isSetUp ? 'Your sheets at a glance.' : 'Turn a spreadsheet into a JSON API in four steps.'}
      </PageHeader>
      {start.error && !view && <ErrorState error={start.error} onRetry={() => start.refetch()} />}
      {isWaiting && <Skeleton lines={8} />}
      {view && !isWaiting && isSetUp && (
        <Home>
          <details className="mt-6">
            <summary className="rounded-md text-sm text-soft">Setup: all four steps done</summary>
            <div className="mt-3">
              <Checklist view={view} server={server} />
            </div>
          </details>
        </Home>
      )}
      {view && !isWaiting && !isSetUp && (
        <>
          <Attention />
          <Checklist view={view} server={server} />
        </>
      )}
    </>
  )
}

function stepsOf(view: StartView): boolean[] {
  return [view.isConnected || view.sheets > 0, view.sheets > 0, view.keys > 0, view.firstRequestAtMs !== null]
}

/** -1 when all are done. */
function currentStep(view: StartView): number {
  return stepsOf(view).indexOf(false)
}

function Checklist({ view, server: { baseUrl, hasFiles } }: { view: StartView; server: ServerView }) {
  const hasSource = view.isConnected || view.sheets > 0
  // The first that can be connected stands for all: the next page offers the others.
  const home = useSources().connectable.find(({ isOffered }) => isOffered)
  const current = currentStep(view)
  return (
    <ol className="overflow-hidden rounded-xl border border-line bg-raised">
      <Step
        number={1}
        isDone={hasSource}
        isCurrent={current === 0}
        title={home ? `Connect ${home.title}${hasFiles ? ' or upload a file' : ''}` : 'Upload a file'}
        action={
          <div className="flex flex-wrap gap-2">
            <ButtonLink look="primary" to="/connect">
              {home ? `Connect ${home.name}` : 'Upload a file'}
            </ButtonLink>
            {home && hasFiles && (
              <ButtonLink to="/connect" search={{ source: 'file' }}>
                Upload a file
              </ButtonLink>
            )}
          </div>
        }
      >
        {home && `Your spreadsheet stays in ${home.title}, and everyone can keep editing it there. `}
        {hasFiles && 'Rowport stores a copy of an uploaded file. Changes to your original aren’t synced.'}
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
          ? `${view.sheets} ${view.sheets === 1 ? 'sheet' : 'sheets'} connected`
          : 'Row 1 holds the field names. Each row below is a record.'}
      </Step>
      <Step
        number={3}
        isDone={view.keys > 0}
        isCurrent={current === 2}
        title="Create an API key"
        action={
          <ButtonLink look="primary" to="/keys">
            Create key
          </ButtonLink>
        }
      >
        {view.keys > 0
          ? `${view.keys} active ${view.keys === 1 ? 'key' : 'keys'}`
          : 'Anyone with the key can read your sheets, and write to them if you allow it.'}
      </Step>
      <Step
        number={4}
        isDone={view.firstRequestAtMs !== null}
        isCurrent={current === 3}
        title={view.firstRequestAtMs === null ? 'Send your first request' : 'First request received'}
      >
        {view.firstRequestAtMs === null ? (
          'We’ll check this off when your first request arrives.'
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
