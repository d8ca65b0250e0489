import { hashKey, type QueryClient } from '@tanstack/react-query'
import { createRootRoute, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router'
import type { PageAddress } from '../../src/dashboard/pages.ts'
import { basePath } from './base-path.ts'
import { keysSearchIn } from './pages/keys/key-list.ts'
import { historySearchIn } from './pages/sheet/history/history-search.ts'
import { requestsSearchIn } from './pages/sheet/requests-search.ts'
import { rowsSearchIn } from './pages/sheet/rows-search.ts'
import { sheetsSearchIn } from './pages/sheets/sheet-list.ts'
import { ConfirmedPage } from './pages/sign-in/confirmed-page.tsx'
import { SignInLinkPage } from './pages/sign-in/sign-in-link-page.tsx'
import { SignInPage } from './pages/sign-in/sign-in-page.tsx'
import { SignUpPage } from './pages/sign-in/sign-up-page.tsx'
import { usageSearchIn } from './pages/usage/usage-search.ts'
import { sessionQuery } from './queries.ts'
import { NotFound, PageFailed, PageLoading, PartFailed } from './shell/fallbacks.tsx'
import { pageIn } from './shell/page-loading.ts'
import { Shell } from './shell/shell.tsx'

/** Every page of the dashboard and its address. Pages behind the sign-in are loaded when they are first opened. */
export function createRoutes(queryClient: QueryClient) {
  const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: PageFailed })

  const signIn = createRoute({
    getParentRoute: () => root,
    path: '/sign-in',
    validateSearch: (search): { next?: string; problem?: string } => ({
      ...(isOwnPath(search.next) && { next: search.next }),
      ...(typeof search.problem === 'string' && { problem: search.problem }),
    }),
    component: SignInPage,
  })
  const signUp = createRoute({ getParentRoute: () => root, path: '/sign-up', component: SignUpPage })
  const confirmed = createRoute({ getParentRoute: () => root, path: '/confirmed', component: ConfirmedPage })
  const signInLink = createRoute({
    getParentRoute: () => root,
    path: '/sign-in-link',
    validateSearch: (search): { token: string } => ({ token: String(search.token ?? '') }),
    component: SignInLinkPage,
  })

  const forgotPassword = createRoute({
    getParentRoute: () => root,
    path: '/forgot-password',
    component: pageIn(() => import('./pages/sign-in/forgot-password-page.tsx'), 'ForgotPasswordPage'),
  })
  const resetPassword = createRoute({
    getParentRoute: () => root,
    path: '/reset-password',
    validateSearch: (search): { token: string } => ({ token: String(search.token ?? '') }),
    component: pageIn(() => import('./pages/sign-in/reset-password-page.tsx'), 'ResetPasswordPage'),
  })
  const verifyEmail = createRoute({
    getParentRoute: () => root,
    path: '/verify-email',
    validateSearch: (search): { token: string } => ({ token: String(search.token ?? '') }),
    component: pageIn(() => import('./pages/sign-in/verify-email-page.tsx'), 'VerifyEmailPage'),
  })

  const owners = createRoute({
    getParentRoute: () => root,
    id: 'owners',
    component: Shell,
    errorComponent: PageFailed,
    beforeLoad: async ({ location }) => {
      const session = await queryClient.ensureQueryData(sessionQuery)
      if (!session)
        throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } })
    },
  })
  const behind = { getParentRoute: () => owners }

  const start = createRoute({
    ...behind,
    path: '/',
    component: pageIn(() => import('./pages/start/start-page.tsx'), 'StartPage'),
  })
  const sheets = createRoute({
    ...behind,
    path: '/sheets',
    validateSearch: sheetsSearchIn,
    component: pageIn(() => import('./pages/sheets/sheets-page.tsx'), 'SheetsPage'),
  })
  const connect = createRoute({
    ...behind,
    path: '/connect',
    validateSearch: wizardIn,
    component: pageIn(() => import('./pages/connect/connect-page.tsx'), 'ConnectPage'),
  })
  const sheet = createRoute({
    ...behind,
    path: '/sheets/$slug',
    component: pageIn(() => import('./pages/sheet/sheet-page.tsx'), 'SheetPage'),
  })
  const inSheet = { getParentRoute: () => sheet }
  const overview = createRoute({
    ...inSheet,
    path: '/',
    component: pageIn(() => import('./pages/sheet/overview.tsx'), 'Overview'),
  })
  const consoleTab = createRoute({
    ...inSheet,
    path: 'console',
    validateSearch: (search): { method?: string; row?: string; query?: string } => ({
      ...(typeof search.method === 'string' && { method: search.method }),
      ...(search.row !== undefined && { row: String(search.row).replace(/\D/g, '') }),
      ...(typeof search.query === 'string' && { query: search.query }),
    }),
    component: pageIn(() => import('./pages/sheet/console/console.tsx'), 'Console'),
  })
  const rows = createRoute({
    ...inSheet,
    path: 'rows',
    validateSearch: rowsSearchIn,
    component: pageIn(() => import('./pages/sheet/rows.tsx'), 'Rows'),
  })
  const history = createRoute({
    ...inSheet,
    path: 'history',
    validateSearch: historySearchIn,
    component: pageIn(() => import('./pages/sheet/history/history.tsx'), 'History'),
  })
  const requests = createRoute({
    ...inSheet,
    path: 'requests',
    validateSearch: requestsSearchIn,
    component: pageIn(() => import('./pages/sheet/requests.tsx'), 'Requests'),
  })
  const sheetSettings = createRoute({
    ...inSheet,
    path: 'settings',
    component: pageIn(() => import('./pages/sheet/settings/sheet-settings.tsx'), 'SheetSettings'),
  })
  const files = createRoute({
    ...behind,
    path: '/files',
    component: pageIn(() => import('./pages/files/files-page.tsx'), 'FilesPage'),
  })
  const keys = createRoute({
    ...behind,
    path: '/keys',
    validateSearch: keysSearchIn,
    component: pageIn(() => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
  })
  const forms = createRoute({
    ...behind,
    path: '/forms',
    component: pageIn(() => import('./pages/forms/forms-page.tsx'), 'FormsPage'),
  })
  const newForm = createRoute({
    ...behind,
    path: '/forms/new',
    validateSearch: (search): { sheet?: string } => ({
      ...(search.sheet !== undefined && { sheet: String(search.sheet) }),
    }),
    component: pageIn(() => import('./pages/forms/new-form-page.tsx'), 'NewFormPage'),
  })
  const form = createRoute({
    ...behind,
    path: '/forms/$id',
    validateSearch: ({ view }): { view?: 'edit' | 'share' | 'held' } => ({
      ...((view === 'edit' || view === 'share' || view === 'held') && { view }),
    }),
    component: pageIn(() => import('./pages/forms/form-page.tsx'), 'FormPage'),
  })
  const webhooks = createRoute({
    ...behind,
    path: '/webhooks',
    component: pageIn(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  })
  const usage = createRoute({
    ...behind,
    path: '/usage',
    validateSearch: usageSearchIn,
    component: pageIn(() => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
  })
  const audit = createRoute({
    ...behind,
    path: '/audit',
    component: pageIn(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
  })
  const settings = createRoute({
    ...behind,
    path: '/settings',
    validateSearch: outcomesIn,
    component: pageIn(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
  })

  const router = createRouter({
    routeTree: root.addChildren([
      signIn,
      signUp,
      signInLink,
      forgotPassword,
      resetPassword,
      verifyEmail,
      confirmed,
      owners.addChildren([
        start,
        sheets,
        connect,
        sheet.addChildren([overview, consoleTab, rows, history, requests, sheetSettings]),
        files,
        keys,
        forms,
        newForm,
        form,
        webhooks,
        usage,
        audit,
        settings,
      ]),
    ]),
    basepath: basePath || '/',
    defaultPreload: 'intent',
    // What takes longer than this is said to be under way; what takes less would only flicker.
    defaultPendingMs: 150,
    defaultPendingMinMs: 0,
    defaultPendingComponent: PageLoading,
    defaultErrorComponent: PartFailed,
    scrollRestoration: true,
  })
  whenSessionEnds(queryClient, () => void router.invalidate())
  return router
}

/** In another tab, elsewhere, or by itself. Then the router asks again who may see the page that is open. */
function whenSessionEnds(queryClient: QueryClient, act: () => void): void {
  const sessionHash = hashKey(sessionQuery.queryKey)
  let isSignedIn = false
  queryClient.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryHash !== sessionHash || query.state.data === undefined) return
    const wasSignedIn = isSignedIn
    isSignedIn = query.state.data !== null
    if (wasSignedIn && !isSignedIn) act()
  })
}

/** What a provider's page led back with: under the provider's id how it ended, under `picked` what was chosen there. */
interface ConsentOutcomes {
  picked?: string
  [provider: string]: string | undefined
}

/** And which step of the wizard it is. Ids of tabs are numbers, and are taken for such. */
function wizardIn(search: Record<string, unknown>) {
  const { source, spreadsheet, file, tab } = search
  return {
    ...outcomesIn(search),
    ...(source !== undefined && { source: String(source) }),
    ...(spreadsheet !== undefined && { spreadsheet: String(spreadsheet) }),
    ...(file !== undefined && { file: String(file) }),
    ...(tab !== undefined && { tab: String(tab) }),
  }
}

function outcomesIn(search: Record<string, unknown>): ConsentOutcomes {
  const named = Object.entries(search).filter(([name]) => /^[a-z]{2,20}$/.test(name))
  return Object.fromEntries(named.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

/** Only pages of ours may be returned to; another site's address in the query leads nowhere. */
function isOwnPath(path: unknown): path is string {
  return typeof path === 'string' && /^\/(?![/\\])/.test(path)
}

/** An index has its parent's address and a slash. */
type WithoutSlash<Path> = Path extends `${infer Parent extends `/${string}`}/` ? Parent : Path
type RoutedAddress = WithoutSlash<keyof ReturnType<typeof createRoutes>['routesByPath']>
type Within<Outer, Inner extends Outer> = Inner

/* A page that the server does not know works by a click and is gone after a reload, so neither side has one alone. */
export type RoutedPages = Within<PageAddress, RoutedAddress>
export type ServedPages = Within<RoutedAddress, PageAddress>

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createRoutes>
  }
}
