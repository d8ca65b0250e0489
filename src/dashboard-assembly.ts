import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { clientAddress, type TrustedProxies } from './api/client-address.ts'
import type { ApiParts } from './api/rows-request.ts'
import type { Workshop } from './assemble.ts'
import type { Config } from './config.ts'
import { createDashboard, type Dashboard } from './dashboard/dashboard.ts'
import { createAccountEnding } from './management/account-ending.ts'
import { createAttempts } from './management/attempts.ts'
import { createGoogleIdentity } from './management/google-identity.ts'
import { createGoogleSignIn } from './management/google-sign-in.ts'
import { createOwnerPace } from './management/owner-pace.ts'
import { createOwners } from './management/owners.ts'
import { createPasswords } from './management/passwords.ts'
import { createPlanBook } from './management/plan-book.ts'
import { createShareUse } from './management/share-use.ts'
import { createThrottle } from './management/throttle.ts'
import { createUsageFigures } from './management/usage-figures.ts'
import { createOwnerReading } from './owner-reading.ts'
import { createMemoryRateWindows } from './shared-state/memory-rate-windows.ts'
import type { RateWindows } from './shared-state/rate-windows.ts'
import type { Usage } from './usage/usage.ts'

export interface DashboardNeeds {
  config: Config
  workshop: Workshop
  windows: RateWindows
  usage: Usage
  api: ApiParts
  trustedProxies: TrustedProxies | null
}

const appFolder = join(import.meta.dirname, '..', 'web', 'dist')

/** What only the dashboard needs, on top of the workshop and the server's own parts. */
export function assembleDashboard(needs: DashboardNeeds): { dashboard: Dashboard; close(): void } {
  const { config, workshop, windows, usage, api, trustedProxies } = needs
  const { store, plans, signIn, google, uploads, sealing } = workshop
  const { clock, observe } = api
  const { signUpPlan } = config
  const planBook = createPlanBook(plans)
  const throttle = createThrottle(windows, sealing.digest)
  const identity = config.google && createGoogleIdentity(config.google, clock)
  const baseUrl = () => workshop.baseUrl
  const dashboard = createDashboard({
    ...workshop,
    ...workshop.ofOwner,
    appFolder,
    baseUrl,
    version: packageJson.version,
    clock,
    observe,
    owners: createOwners({ store, passwords: createPasswords(), signIn, throttle, signUpPlan }),
    googleSignIn: createGoogleSignIn({ store, sealing, signIn, throttle, identity, signUpPlan, baseUrl }),
    planBook,
    attempts: createAttempts(windows),
    pace: createOwnerPace({
      windows,
      visitors: createMemoryRateWindows(clock),
      digest: sealing.digest,
      planBook,
      callsPerMinute: config.shares.owner_requests_per_minute,
      observe,
    }),
    shareUse: createShareUse(store, uploads, config.shares),
    usageFigures: createUsageFigures(store, usage, plans, clock),
    ownerReading: createOwnerReading(api),
    endAccount: createAccountEnding(store, google, uploads),
    addressOf: (request) => clientAddress(request, trustedProxies),
  })
  return { dashboard, close: () => identity?.close() }
}
