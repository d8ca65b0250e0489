import type { IncomingMessage } from 'node:http'
import {
  consentAnswerIn,
  NotConnected,
  type OwnerConnection,
} from '../management/connections/owner-connection.ts'
import { Problem } from '../management/problem.ts'
import type { DashboardParts } from './dashboard-parts.ts'
import {
  googleAttemptIn,
  googleCookie,
  googleCookieEnd,
  sessionCookie,
  sessionIdIn,
} from './session-cookie.ts'
import type { Site } from './site.ts'

/** Where the browser goes next, and what it is told to keep. */
export interface Onward {
  /** A page of ours, or a whole address elsewhere. */
  to: string
  cookies: string[]
}

/** Only pages of ours may be returned to, and none has a longer address. */
const ownPage = /^\/(?![/\\])[\x21-\x7e]{0,200}$/
const tooOften: Onward = { to: '/sign-in?problem=too_often', cookies: [] }

export const signInPath = '/dashboard/google/sign-in'

/** The way to Google, to say who one is. */
export async function toSignIn(
  request: IncomingMessage,
  query: URLSearchParams,
  site: Site,
  { googleSignIn, addressOf }: DashboardParts,
): Promise<Onward> {
  const next = query.get('next') ?? '/'
  const started = await googleSignIn.start(ownPage.test(next) ? next : '/', addressOf(request))
  if (started instanceof Problem) return tooOften
  if (!started) return { to: '/sign-in?problem=google_failed', cookies: [] }
  return { to: started.url, cookies: [googleCookie(started.attempt, site)] }
}

/**
 * A provider sends people back to one address, whether they connected their spreadsheets or, where it is one who says who
 * somebody is, signed in.
 */
export async function fromConsent(
  connection: OwnerConnection,
  request: IncomingMessage,
  query: URLSearchParams,
  site: Site,
  parts: DashboardParts,
): Promise<Onward> {
  if (await parts.pace.countCall({ address: parts.addressOf(request) })) return tooOften
  const answer = consentAnswerIn(query)
  const { id: provider } = connection.kind
  const sessionId = sessionIdIn(request, site)
  const session = sessionId === null ? null : await parts.signIn.find(sessionId)
  const visitor = { address: parts.addressOf(request), formerSessionId: sessionId }
  const signedIn = await parts.googleSignIn.finish(answer, {
    attempt: googleAttemptIn(request, site),
    session,
    visitor,
  })
  if (signedIn !== null) {
    const over = googleCookieEnd(site)
    if (typeof signedIn === 'string') return { to: `/sign-in?problem=google_${signedIn}`, cookies: [over] }
    return { to: signedIn.returnTo, cookies: [over, sessionCookie(signedIn.sessionId, site)] }
  }
  if (!session) return { to: `/connect?${provider}=state_invalid`, cookies: [] }
  const { returnTo, outcome } = await connection.comeBack(session, answer)
  if (outcome instanceof NotConnected)
    return { to: `${returnTo}?${provider}=${outcome.failure}`, cookies: [] }
  const { formerLabel, isSameOwner, pickedIds } = outcome
  await parts.audit.note({
    accountId: session.account.id,
    actor: 'owner',
    address: parts.addressOf(request),
    action: 'connection.made',
    subject: connection.kind.name,
    details: null,
  })
  const code = formerLabel === null ? 'connected' : isSameOwner ? 'reconnected' : 'other_account'
  const picked = pickedIds.length === 0 ? '' : `&picked=${pickedIds.join(',')}`
  return { to: `${returnTo}?${provider}=${code}${picked}`, cookies: [] }
}
