import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { basePath } from '../base-path.ts'
import { useProblemCount } from '../problems.ts'
import { sessionQuery } from '../queries.ts'
import { useSession } from '../session.ts'
import { Icon } from '../ui/icon.tsx'
import { CommandPalette } from './command-palette.tsx'
import { ConfirmItIsYou } from './confirm-it-is-you.tsx'
import { Logo } from './logo.tsx'
import { PageChange } from './page-change.tsx'
import { SignOut } from './sign-out.tsx'
import { SilenceBar } from './silence-bar.tsx'
import { ThemeSwitch } from './theme-switch.tsx'

const pages = [
  { to: '/', label: 'Home', icon: 'home' },
  { to: '/sheets', label: 'Sheets', icon: 'sheet' },
  { to: '/files', label: 'Files', icon: 'file' },
  { to: '/keys', label: 'API keys', icon: 'key' },
  { to: '/forms', label: 'Forms', icon: 'form' },
  { to: '/webhooks', label: 'Webhooks', icon: 'webhook' },
  { to: '/usage', label: 'Usage', icon: 'usage' },
  { to: '/audit', label: 'Audit log', icon: 'audit' },
  { to: '/settings', label: 'Settings', icon: 'settings' },
] as const

/** Navigation beside the page; on a narrow screen a bar on top that opens. */
export function Shell() {
  const path = useRouterState({ select: (state) => state.location.pathname })
  // The menu is open on the page where it was opened; another page closes it.
  const [openOn, setOpenOn] = useState<string | null>(null)
  if (openOn !== null && openOn !== path) setOpenOn(null)
  const isOpen = openOn === path
  const [isGoing, setIsGoing] = useState(false)
  useShortcut(() => setIsGoing(true))
  // Tables of any width use what the screen has.
  const isWide = useRouterState({
    select: ({ matches }) => /\/(?:rows|requests)$/.test(matches.at(-1)?.fullPath ?? ''),
  })
  const { data: session } = useQuery(sessionQuery)
  const shown = pages.filter(({ to }) => to !== '/files' || session?.server.hasFiles)
  // It ended meanwhile, in another tab, elsewhere, or by itself: the router is on its way to the sign-in.
  if (session === null) return null
  return (
    <div className="md:grid md:min-h-dvh md:grid-cols-[14rem_1fr]">
      <a
        href="#page"
        className="sr-only rounded-md bg-raised px-3 py-2 focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-50"
      >
        Skip to content
      </a>
      <header className="border-line bg-raised max-md:sticky max-md:top-0 max-md:z-40 max-md:border-b md:border-r">
        <div className="md:sticky md:top-0">
          <div className="flex items-center justify-between px-4 py-3 md:px-5 md:py-5">
            <Link to="/" aria-label="Rowport, home" className="rounded-md">
              <Logo />
            </Link>
            <button
              type="button"
              aria-expanded={isOpen}
              aria-controls="navigation"
              onClick={() => setOpenOn(isOpen ? null : path)}
              className="rounded-md border border-line-strong px-3 py-1 text-sm md:hidden"
            >
              Menu
            </button>
          </div>
          <div id="navigation" className={`${isOpen ? 'block' : 'hidden'} px-3 pb-4 md:block`}>
            <button
              type="button"
              onClick={() => setIsGoing(true)}
              aria-keyshortcuts="Control+K Meta+K"
              className="mb-3 flex w-full items-center gap-2.5 rounded-md border border-line px-2.5 py-1.5 text-sm text-soft hover:bg-sunken hover:text-ink"
            >
              <Icon name="search" />
              Go to…
              <span aria-hidden="true" className="ml-auto text-xs">
                {isApple ? '⌘K' : 'Ctrl K'}
              </span>
            </button>
            <nav aria-label="Pages">
              <ul className="space-y-0.5">
                {shown.map(({ to, label, icon }) => (
                  <li key={to}>
                    <Link
                      to={to}
                      activeOptions={{ exact: to === '/' }}
                      className="flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-sm"
                      activeProps={{
                        className: 'bg-accent-wash text-accent font-medium',
                        'aria-current': 'page',
                      }}
                      inactiveProps={{ className: 'text-soft hover:bg-sunken hover:text-ink' }}
                    >
                      <Icon name={icon} />
                      {label}
                      {to === '/sheets' && <Problems />}
                    </Link>
                  </li>
                ))}
                <li>
                  {/* Pages of the server itself: everybody may read them, also without this app. */}
                  <a
                    href={`${basePath}/docs`}
                    className="flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-sm text-soft hover:bg-sunken hover:text-ink"
                  >
                    <Icon name="docs" />
                    Docs
                  </a>
                </li>
              </ul>
            </nav>
            <Who />
          </div>
        </div>
      </header>
      <main id="page" tabIndex={-1} className="min-w-0 px-4 pt-6 pb-20 outline-none sm:px-8 md:pt-10">
        <div className={`mx-auto ${isWide ? 'max-w-none' : 'max-w-5xl'}`}>
          <Outlet />
        </div>
      </main>
      <PageChange />
      <SilenceBar />
      <ConfirmItIsYou />
      {isGoing && <CommandPalette pages={shown} onClose={() => setIsGoing(false)} />}
    </div>
  )
}

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** Not while something else is asked: a dialog has the keyboard to itself. */
function useShortcut(open: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      if (document.querySelector('dialog[open]')) return
      event.preventDefault()
      open()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [open])
}

/** How many sheets need their owner, wherever one is. */
function Problems() {
  const count = useProblemCount()
  if (count === 0) return null
  return (
    <span className="ml-auto rounded-full bg-bad-fill px-1.5 text-xs font-medium text-white tabular-nums">
      {count}
      <span className="sr-only"> need attention</span>
    </span>
  )
}

function Who() {
  const { account, owner } = useSession()
  return (
    <div className="mt-6 border-t border-line px-2.5 pt-4">
      <p className="truncate text-sm font-medium" title={account.slug}>
        {account.slug}
      </p>
      <p className="truncate text-caption text-soft">{owner.email ?? 'Signed in with a link'}</p>
      <div className="mt-3 flex items-center justify-between">
        <SignOut />
        <ThemeSwitch />
      </div>
    </div>
  )
}
