import { z } from 'zod'
import type { OwnerConnection } from '../../management/connections/owner-connection.ts'
import { type PasswordWish, sentence, type Visitor } from '../../management/people/owners.ts'
import type { Session } from '../../management/people/sign-in.ts'
import { Problem } from '../../management/problem.ts'
import type { ServerView, SessionView, SourceView, SwitchedOffView } from '../contract.ts'
import type { DashboardParts, SourceKind } from '../dashboard-parts.ts'
import { sessionCookie, sessionCookieEnd } from '../session-cookie.ts'
import { openWithInput, type VerbCall, type VerbOutcome, type Verbs, withInput } from './route.ts'

export const email = z.email('Enter a valid email.').max(254, 'This email is too long.')
export const password = z.string('Enter a password.').max(4_096, 'This password is too long.')

const signUpInput = z.strictObject({ email, password, slug: z.string('Choose a name.').max(100) })
const signInInput = z.strictObject({ email: z.string().max(254), password })
const confirmInput = z.strictObject({ password })
const linkInput = z.strictObject({ token: z.string().max(100) })
const passwordInput = z.strictObject({
  current: password.nullable(),
  next: password,
  email: email.optional(),
})

/** Coming, staying and leaving. */
export const sessionVerbs = {
  'GET /server': { open: async (_call, parts) => ({ json: serverView(parts) }) },
  'GET /session': {
    owner: async ({ session }, parts) => ({ json: await sessionView(session, parts) }),
  },
  'POST /sign-up': {
    ...openWithInput(signUpInput, async (call, wish, parts) =>
      enterDashboard(call, await parts.owners.signUp(wish, visitorOf(call, parts)), parts),
    ),
  },
  'POST /sign-in': {
    ...openWithInput(signInInput, async (call, wish, parts) =>
      enterDashboard(call, await parts.owners.signIn(wish, visitorOf(call, parts)), parts),
    ),
  },
  'POST /sign-in-link': {
    ...openWithInput(linkInput, async (call, { token }, parts) =>
      enterDashboard(call, await parts.signIn.follow(token, call.sessionId), parts),
    ),
  },
  'POST /sign-out': {
    takesAccessAway: true,
    async open({ site, sessionId }, { signIn }) {
      if (sessionId !== null) await signIn.end(sessionId)
      return { json: null, cookie: sessionCookieEnd(site) }
    },
  },
  'POST /sign-out-everywhere': {
    takesAccessAway: true,
    async owner({ site, session }, { signIn }) {
      await signIn.endAll(session.account.id)
      return { json: null, cookie: sessionCookieEnd(site) }
    },
  },
  'POST /confirm': {
    ...withInput(confirmInput, async (call, { password: given }, parts) =>
      enterDashboard(call, await parts.owners.confirm(call.session, given, visitorOf(call, parts)), parts),
    ),
  },
  'POST /password': {
    ...withInput(passwordInput, async (call, { current, next, email: address }, parts) => {
      const wish: PasswordWish = { current, next, email: address ?? null }
      const problem = await parts.owners.setPassword(call.session, wish)
      return problem ?? { json: null }
    }),
  },
} satisfies Partial<Verbs>

export async function sessionView(
  { account, signedInAtMs }: Session,
  parts: DashboardParts,
): Promise<SessionView> {
  const owner = await parts.owners.of(account.id)
  const { id, slug, createdAtMs } = account
  const { planBook } = parts
  return {
    account: { id, slug, createdAtMs, plan: planBook.of(account), allPlans: planBook.all },
    owner: {
      email: owner?.email ?? null,
      isEmailVerified: owner?.emailVerifiedAtMs != null,
      wantsAlerts: owner?.wantsAlerts ?? true,
      hasPassword: owner?.passwordHash != null,
      hasGoogle: owner?.googleSubject != null,
    },
    signedInAtMs,
    server: serverView(parts, await findSwitchedOff(parts)),
  }
}

/** By provider. Only who is signed in is told: before that, nothing is asked of the store. */
type SwitchedOffAt = ReadonlyMap<string, SwitchedOffView | null>
type SwitchedOff = Awaited<ReturnType<OwnerConnection['switchedOff']>>[number]
type Ability = SwitchedOff['ability']

const requestsWithout: Record<Ability, string> = {
  reads: 'Rows are neither read nor written; every request for them returns 502.',
  writes: 'Rows are read as before; every write returns 502 and changes nothing.',
  additions: 'Rows are read, changed and deleted as before; adding one returns 502 and changes nothing.',
}

async function findSwitchedOff({ kinds, connections }: DashboardParts): Promise<SwitchedOffAt> {
  const found = kinds.all.map(async ({ id }) => {
    const off = (await connections.find(id)?.switchedOff()) ?? []
    return [id, inOne(off)] as const
  })
  return new Map(await Promise.all(found))
}

function inOne(off: readonly SwitchedOff[]): SwitchedOffView | null {
  const byReach = ['reads', 'writes', 'additions'] as const
  const most = byReach.flatMap((ability) => off.find((one) => one.ability === ability) ?? [])[0]
  return most
    ? {
        what: sentence(most.what),
        means: requestsWithout[most.ability],
        whatHelps: [...new Set(off.map(({ whatHelps }) => whatHelps))],
        why: off.map(({ why }) => why),
      }
    : null
}

function serverView(parts: DashboardParts, switchedOff: SwitchedOffAt = new Map()): ServerView {
  const { baseUrl, version, googleSignIn, uploads, owners } = parts
  return {
    baseUrl: baseUrl(),
    version,
    hasGoogle: googleSignIn.isConfigured,
    hasFiles: uploads !== null,
    sources: parts.kinds.all.map((kind) => sourceView(kind, parts, switchedOff.get(kind.id) ?? null)),
    canSignUp: owners.canSignUp,
    hasMail: parts.byMail !== null,
    operatorCommand: parts.operatorCommand,
  }
}

function sourceView(
  { id: provider, name, title, connectsBy, canBeListed, hasTabs }: SourceKind,
  { connections, uploads }: DashboardParts,
  switchedOff: SwitchedOffView | null,
): SourceView {
  const known = { provider, name, title, canBeListed, hasTabs }
  const connection = connections.find(provider)
  if (connectsBy.length === 0 || !connection)
    return { ...known, isOffered: uploads !== null, connection: null }
  const { notSetUp, linkPattern, key } = connection.words
  const { ways, readsPublic } = connection
  return {
    ...known,
    isOffered: ways.length > 0,
    connection: { ways, readsPublic, switchedOff, notSetUp, linkPattern, key },
  }
}

export async function enterDashboard(
  { site }: VerbCall,
  outcome: string | Problem,
  parts: DashboardParts,
): Promise<VerbOutcome<SessionView>> {
  if (outcome instanceof Problem) return new Problem(sentence(outcome.message), outcome.facts)
  const session = await parts.signIn.find(outcome)
  if (!session) return endedAtOnce
  return { json: await sessionView(session, parts), cookie: sessionCookie(outcome, site) }
}

/** An account has only so many sessions. */
const endedAtOnce = new Problem('Too many sign-ins at once ended this session. Sign in again.', {
  kind: 'unknown_person',
})

export function visitorOf({ request, sessionId }: VerbCall, { addressOf }: DashboardParts): Visitor {
  return { address: addressOf(request), formerSessionId: sessionId }
}
