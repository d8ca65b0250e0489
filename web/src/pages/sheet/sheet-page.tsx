import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useParams } from '@tanstack/react-router'
import { Fragment } from 'react'
import { Refused } from '../../api.ts'
import { sheetQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { useSources } from '../../sources.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { EmptyState, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { AccessBadge } from '../sheets/sheet-access.tsx'
import { SheetStateBadge } from '../sheets/sheet-state.tsx'

const tabs = [
  { to: '/sheets/$slug', label: 'Overview' },
  { to: '/sheets/$slug/console', label: 'Console' },
  { to: '/sheets/$slug/rows', label: 'Rows' },
  { to: '/sheets/$slug/requests', label: 'Requests' },
  { to: '/sheets/$slug/settings', label: 'Settings' },
] as const

export function SheetPage() {
  const { slug } = useParams({ from: '/owners/sheets/$slug' })
  useTitle(slug)
  const sheet = useQuery(sheetQuery(slug))
  const { nameOf } = useSources()
  if (sheet.error instanceof Refused && sheet.error.status === 404) return <NoSuchSheet slug={slug} />
  return (
    <>
      <PageHeader
        title={slug}
        action={
          sheet.data && (
            <div className="flex gap-2">
              <AccessBadge access={sheet.data.settings.access} />
              <SheetStateBadge state={sheet.data.state} />
            </div>
          )
        }
      >
        {sheet.data ? (
          <Source description={sheet.data.source.description} url={sheet.data.source.url} />
        ) : (
          ' '
        )}
      </PageHeader>
      {sheet.data?.state === 'needs_reconnect' && (
        <div
          role="alert"
          className="mb-5 flex flex-wrap items-center justify-between gap-3 rounded-lg bg-warn-wash px-4 py-3 text-sm text-warn"
        >
          {nameOf(sheet.data.provider)} no longer accepts your permission, so clients get 503 token_expired.
          Reconnect and everything goes on.
          <ButtonLink to="/settings">Reconnect {nameOf(sheet.data.provider)}</ButtonLink>
        </div>
      )}
      {sheet.data?.state === 'broken' && (
        <p role="alert" className="mb-5 rounded-lg bg-bad-wash px-4 py-3 text-sm text-bad">
          This sheet cannot be read at the moment: {sheet.data.stateReason}
        </p>
      )}
      <nav
        aria-label="Parts of this sheet"
        className="mb-6 [scrollbar-width:none] overflow-x-auto border-b border-line"
      >
        <ul className="flex sm:gap-1">
          {tabs.map(({ to, label }) => (
            <li key={to}>
              <Link
                to={to}
                params={{ slug }}
                activeOptions={{ exact: to === '/sheets/$slug' }}
                className="block border-b-2 border-transparent px-2 py-2 text-sm text-soft hover:text-ink sm:px-3"
                activeProps={{ className: 'border-accent! text-ink! font-medium', 'aria-current': 'page' }}
              >
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      {sheet.isPending && <Skeleton lines={7} />}
      {sheet.error && !sheet.data && <ErrorState error={sheet.error} onRetry={() => sheet.refetch()} />}
      {/* What was typed or asked on the page of one sheet is never carried over to another. */}
      {sheet.data && (
        <Fragment key={slug}>
          <Outlet />
        </Fragment>
      )}
    </>
  )
}

function NoSuchSheet({ slug }: { slug: string }) {
  return (
    <>
      <PageHeader title={slug} />
      <EmptyState
        title="There is no sheet at this address"
        action={
          <ButtonLink look="primary" to="/sheets">
            See your sheets
          </ButtonLink>
        }
      >
        It may have been disconnected, or have another address by now.
      </EmptyState>
    </>
  )
}

function Source({ description, url }: { description: string; url: string | null }) {
  if (!url) return description
  return (
    <a href={url} target="_blank" rel="noreferrer" className="underline underline-offset-2 hover:text-ink">
      {description}
    </a>
  )
}
