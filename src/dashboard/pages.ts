/**
 * The addresses of the app's pages, `$name` for any one segment: the server answers each of them with the app, and
 * `web/src/routes.tsx` does not compile unless it has these and no others. The app imports this, so it imports nothing.
 */
export const pageAddresses = [
  '/',
  '/sheets',
  '/sheets/$slug',
  '/sheets/$slug/console',
  '/sheets/$slug/rows',
  '/sheets/$slug/history',
  '/sheets/$slug/requests',
  '/sheets/$slug/settings',
  '/connect',
  '/files',
  '/keys',
  '/forms',
  '/forms/new',
  '/forms/$id',
  '/webhooks',
  '/usage',
  '/audit',
  '/settings',
  '/sign-in',
  '/sign-up',
  '/sign-in-link',
  '/forgot-password',
  '/reset-password',
  '/verify-email',
  '/confirmed',
] as const

export type PageAddress = (typeof pageAddresses)[number]
