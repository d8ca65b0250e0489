import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useParams, useRouterState } from '@tanstack/react-router'
import { Fragment } from 'react'
import { Refused } from '../../api.ts'
import { useRecount } from '../../problems.ts'
import { sheetQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { EmptyState, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { AccessBadge } from '../sheets/sheet-access.tsx'
import { SheetStateBadge } from '../sheets/sheet-state.tsx'
import { StateBanner } from './state-banner.tsx'

const tabs = [
  { to: '/sheets/$slug', label: 'Overview' },
  { to: '/sheets/$slug/console', label: 'Console' },
  { to: '/sheets/$slug/rows', label: 'Rows' },
  { to: '/sheets/$slug/history', label: 'History' },
  { to: '/sheets/$slug/requests', label: 'Requests' },
  { to: '/sheets/$slug/settings', label: 'Settings' },
] as const

export function SheetPage() {
  const { slug } = useParams({ from: '/owners/sheets/$slug' })
  const place = useRouterState({ select: ({ matches }) => matches.at(-1)?.fullPath })
  const part = tabs.find(({ to }) => to === place)
  useTitle(part ? `${part.label} · ${slug}` : slug)
  const sheet = useQuery(sheetQuery(slug))
  useRecount(sheet.data)
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
      {sheet.data && <StateBanner sheet={sheet.data} />}
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
        title="Sheet not found"
        action={
          <ButtonLink look="primary" to="/sheets">
            See your sheets
          </ButtonLink>
        }
      >
        It may have been disconnected or renamed.
      </EmptyState>
    </>
  )
}

function Source({ description, url }: { description: string; url: string | null }) {
  if (!url) return description
  return (
    <a href={url} target="_blank" rel="noreferrer" className="underline underline-offset-2 hover:text-ink">
      {description}
      <Icon name="away" className="ml-1 inline size-3.5! align-[-0.15em]" />
    </a>
  )
}
