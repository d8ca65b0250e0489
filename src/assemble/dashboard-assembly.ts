import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import type { ApiParts } from '../api/request/rows-request.ts'
import { createLookingBack } from '../changes/history.ts'
import type { Config } from '../config.ts'
import { createDashboard, type Dashboard } from '../dashboard/dashboard.ts'
import { createOwnerTurns } from '../dashboard/owner-api/owner-turns.ts'
import { clientAddress, type TrustedProxies } from '../http/client-address.ts'
import type { UnreadAnswers } from '../http/unread-answers.ts'
import type { MailRoom } from '../mail/mail-room.ts'
import { createPlanBook } from '../management/accounts/plan-book.ts'
import { createShareUse } from '../management/accounts/share-use.ts'
import { createUsageFigures } from '../management/accounts/usage-figures.ts'
import { createAttempts } from '../management/people/attempts.ts'
import { createGoogleIdentity } from '../management/people/google-identity.ts'
import { createGoogleSignIn } from '../management/people/google-sign-in.ts'
import { createOwnerEmails } from '../management/people/owner-emails.ts'
import { createOwnerPace } from '../management/people/owner-pace.ts'
import { createOwners } from '../management/people/owners.ts'
import { createPasswordReset } from '../management/people/password-reset.ts'
import { createPasswords } from '../management/people/passwords.ts'
import { createThrottle } from '../management/people/throttle.ts'
import { createMemoryRateWindows } from '../shared-state/rate-windows/memory-rate-windows.ts'
import type { RateWindows } from '../shared-state/rate-windows/rate-windows.ts'
import type { Usage } from '../usage/usage.ts'
import { createExporting } from './exporting.ts'
import { createOwnerReading } from './owner-reading.ts'
import { rowportCommand } from './rowport-command.ts'
import type { Workshop } from './workshop.ts'

export interface DashboardNeeds {
  config: Config
  workshop: Workshop
  windows: RateWindows
  usage: Usage
  api: ApiParts
  unread: UnreadAnswers
  trustedProxies: TrustedProxies | null
  /** null where the operator has not set mail up. */
  mailRoom: MailRoom | null
}

/** Only there is whoever looks at the dashboard also the one who types commands, and may see where the data lies. */
function isOwnMachine(baseUrl: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname)
}

const root = join(import.meta.dirname, '..', '..')
const appFolder = join(root, 'web', 'dist')
const docsFolder = join(root, 'docs')

export interface AssembledDashboard {
  dashboard: Dashboard
  close(): Promise<void>
}

/** What only the dashboard needs, on top of the workshop and the server's own parts. */
export function assembleDashboard(needs: DashboardNeeds): AssembledDashboard {
  const { config, workshop, windows, usage, api, unread, trustedProxies, mailRoom } = needs
  const { store, plans, signIn, uploads, sealing } = workshop
  const { clock, observe } = api
  const { signUpPlan } = config
  const planBook = createPlanBook(plans)
  const throttle = createThrottle(windows, sealing.digest)
  const { client, endpoint } = config.google
  const identity = client && createGoogleIdentity({ ...client, endpoint }, clock)
  const baseUrl = () => workshop.baseUrl
  const passwords = createPasswords({ shares: config.shares, clock, observe })
  const mailing = mailRoom && { store, mailRoom, throttle, baseUrl, observe }
  const byMail = mailing && {
    passwordReset: createPasswordReset({ ...mailing, passwords, signIn }),
    ownerEmails: createOwnerEmails(mailing),
  }
  const dashboard = createDashboard({
    ...workshop,
    ...workshop.ofOwner,
    appFolder,
    docsFolder,
    baseUrl,
    version: packageJson.version,
    operatorCommand: isOwnMachine(workshop.baseUrl) ? rowportCommand(config) : 'rowport',
    clock,
    observe,
    owners: createOwners({
      store,
      passwords,
      signIn,
      throttle,
      signUpPlan,
      welcome: async (owner) => byMail?.ownerEmails.welcome(owner),
    }),
    byMail,
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
    turns: createOwnerTurns({ shares: config.shares, clock, observe, loopTurns: api.turns }),
    shareUse: createShareUse(store, uploads, config.shares, workshop.usedUpShares),
    usageFigures: createUsageFigures({
      store,
      usage,
      plans,
      clock,
      turns: api.turns,
      shares: config.shares,
      observe,
    }),
    ownerReading: createOwnerReading(api, unread, baseUrl, createLookingBack({ store, turns: api.turns })),
    exporting: createExporting(api, config.shares),
    compression: api.compression,
    lanes: api.writing,
    addressOf: (request) => clientAddress(request, trustedProxies),
  })
  return {
    dashboard,
    async close() {
      identity?.close()
      await byMail?.passwordReset.settled()
    },
  }
}
