import { z } from 'zod'
import { Problem } from '../../management/problem.ts'
import type { DashboardParts } from '../dashboard-parts.ts'
import { openWithInput, type VerbCall, type Verbs, withInput } from './route.ts'
import { email, enterDashboard, password, sessionView, visitorOf } from './session-verbs.ts'

const addressInput = z.strictObject({ email })
const resetInput = z.strictObject({ token: z.string().max(100), password })
const tokenInput = z.strictObject({ token: z.string().max(100) })
const alertsInput = z.strictObject({ isWanted: z.boolean() })

/** What goes by mail. */
export const emailVerbs = {
  'POST /forgot-password': {
    ...openWithInput(addressInput, async (call, { email: address }, parts) => {
      if (!parts.byMail) return noMail
      const problem = await parts.byMail.passwordReset.ask(address, visitorOf(call, parts))
      return problem ?? { json: null }
    }),
  },
  'POST /reset-password': {
    ...openWithInput(resetInput, async (call, wish, parts) => {
      if (!parts.byMail) return noMail
      const done = await parts.byMail.passwordReset.finish(wish, visitorOf(call, parts))
      if (done instanceof Problem) return done
      await note('account.password_reset', '', done.accountId, call, parts)
      return enterDashboard(call, done.sessionId, parts)
    }),
  },
  'POST /verify-email': {
    ...openWithInput(tokenInput, async (call, { token }, parts) => {
      if (!parts.byMail) return noMail
      const owner = await parts.byMail.ownerEmails.verify(token)
      if (owner instanceof Problem) return owner
      await note('account.email_verified', owner.email, owner.accountId, call, parts)
      return { json: { email: owner.email } }
    }),
  },
  'POST /email/verification': {
    async owner({ session }, { byMail }) {
      if (!byMail) return noMail
      return (await byMail.ownerEmails.sendAgain(session)) ?? { json: null }
    },
  },
  'POST /email': {
    needsRecentSignIn: true,
    ...withInput(addressInput, async ({ session, request }, { email }, parts) => {
      if (!parts.byMail) return noMail
      const problem = await parts.byMail.ownerEmails.change(session, email, parts.addressOf(request))
      return problem ?? { json: await sessionView(session, parts) }
    }),
  },
  'PATCH /alerts': {
    ...withInput(alertsInput, async ({ session }, { isWanted }, parts) => {
      if (!parts.byMail) return noMail
      const problem = await parts.byMail.ownerEmails.setAlerts(session, isWanted)
      return problem ?? { json: await sessionView(session, parts) }
    }),
  },
} satisfies Partial<Verbs>

/** Nobody is signed in where a link is followed, so these are not noted with the others. */
async function note(
  action: string,
  subject: string,
  accountId: string,
  { request }: VerbCall,
  { audit, addressOf }: DashboardParts,
): Promise<void> {
  await audit.note({ accountId, actor: 'owner', address: addressOf(request), action, subject, details: null })
}

const noMail = new Problem('This server doesn’t send email. Ask your administrator for a sign-in link.', {
  kind: 'not_allowed',
})
