import { GoneMeanwhile } from '../../errors.ts'
import { emailChangedLetter, verificationLetter, verifyLinkLifeMs } from '../../mail/letters.ts'
import type { MailRoom } from '../../mail/mail-room.ts'
import type { Observe } from '../../reporting/observe.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import { clientNetwork } from '../../shares/client-network.ts'
import type { AccountRecord } from '../../store/accounts/accounts.ts'
import type { OwnerRecord } from '../../store/owners/owners.ts'
import type { Store } from '../../store/store.ts'
import { Problem } from '../problem.ts'
import { emailTaken, foldEmail } from './owners.ts'
import { isSecretShaped, randomSecret, type Session, secretHash } from './sign-in.ts'
import { knownAddressesPerNetwork, type Throttle, verificationsPerAccount } from './throttle.ts'

/** The addresses of owners: whose they are, and what is sent there. */
export interface OwnerEmails {
  /** An owner has a new address. What cannot be sent now, they can ask for again; nothing fails by it. */
  welcome(owner: OwnerRecord): Promise<void>
  sendAgain(session: Session): Promise<Problem | null>
  /** By the link that was sent there. */
  verify(token: string): Promise<OwnerRecord | Problem>
  /** `address`: whose network it is asked from. */
  change(session: Session, email: string, address: string): Promise<Problem | null>
  setAlerts(session: Session, isWanted: boolean): Promise<Problem | null>
}

export interface OwnerEmailsParts {
  store: Pick<Store, 'ownerOf' | 'accountById' | 'createMailLink' | 'verifyEmail' | 'setEmail' | 'setAlerts'>
  mailRoom: MailRoom
  throttle: Throttle
  baseUrl(): string
  observe: Observe
}

export function createOwnerEmails(parts: OwnerEmailsParts): OwnerEmails {
  const { store, mailRoom, throttle, baseUrl, observe } = parts
  return {
    async welcome(owner) {
      try {
        const account = await store.accountById(owner.accountId)
        if (account) await sendLink(account, owner.email)
      } catch (error) {
        if (error instanceof GoneMeanwhile) return
        observe({ event: 'malfunction', reference: randomBase62(12), operation: 'none', error })
      }
    },
    async sendAgain({ account }) {
      const owner = await store.ownerOf(account.id)
      if (!owner) return noEmail
      if (owner.emailVerifiedAtMs !== null) return null
      const wait = await waitToWrite(account)
      if (wait) return wait
      await sendLink(account, owner.email)
      return null
    },
    async verify(token) {
      return (isSecretShaped(token) ? await store.verifyEmail(secretHash(token)) : null) ?? linkUsed
    },
    async change({ account }, wished, address) {
      const owner = await store.ownerOf(account.id)
      if (!owner) return noEmail
      const email = foldEmail(wished)
      if (email === owner.email) return null
      // Here, too, somebody could hear which e-mail addresses are known, and let mail be sent to strangers.
      // By network as at a sign-up, and with it: accounts are made in a moment.
      const known = [
        { kind: 'email known', whom: account.id, steps: knownAddressesPerNetwork },
        { kind: 'sign-up known', whom: clientNetwork(address), steps: knownAddressesPerNetwork },
      ] as const
      const wait = (await throttle.problemNow(known)) ?? (await waitToWrite(account))
      if (wait) return wait
      if ((await store.setEmail(owner.id, email)) === 'email_taken') {
        await throttle.count(known)
        return emailTaken
      }
      if (owner.emailVerifiedAtMs !== null) {
        await mailRoom.post(emailChangedLetter(headOf(account)), {
          accountId: account.id,
          email: owner.email,
        })
      }
      await sendLink(account, email)
      return null
    },
    async setAlerts({ account }, isWanted) {
      const owner = await store.ownerOf(account.id)
      if (!owner) return noEmail
      await store.setAlerts(owner.id, isWanted)
      return null
    },
  }

  function waitToWrite({ id }: AccountRecord): Promise<Problem | null> {
    return throttle.attempt([{ kind: 'verification', whom: id, steps: verificationsPerAccount }])
  }

  async function sendLink(account: AccountRecord, email: string): Promise<void> {
    const token = randomSecret()
    const { id: accountId } = account
    const link = { hash: secretHash(token), accountId, kind: 'verify', email } as const
    await store.createMailLink(link, verifyLinkLifeMs)
    await mailRoom.post(verificationLetter(headOf(account), token), { accountId, email })
  }

  function headOf({ slug }: AccountRecord) {
    return { baseUrl: baseUrl(), accountSlug: slug }
  }
}

const noEmail = new Problem('Set a password first. You’ll choose your email there.', { kind: 'not_allowed' })
const linkUsed = new Problem(
  'This link has already been used or has expired. Sign in and send another from Settings.',
)
