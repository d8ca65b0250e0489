import type { Observe } from '../reporting/observe.ts'
import type { Sealing } from '../secrets/sealing.ts'
import type { DueMail, NewMail } from '../store/mail/mail.ts'
import { newId } from '../store/new-id.ts'
import type { Store } from '../store/store.ts'
import { idleTimers } from '../timers.ts'
import type { Letter } from './letters.ts'
import type { Mail, MailTransport } from './mail.ts'

/** Where mail is handed in. It is kept in the store until it is sent, by whichever instance comes first. */
export interface MailRoom {
  post(letter: Letter, to: Reader): Promise<void>
  /** Seals a letter for those who put it into the store together with something else. */
  sealed(letter: Letter, to: Reader): NewMail
}

export interface Reader {
  accountId: string
  email: string
}

export interface RunningMailRoom extends MailRoom {
  /** What is being sent has a moment; what is not sent then, another instance sends, or this one after its next start. */
  close(): Promise<void>
}

export interface MailRoomParts {
  store: Pick<Store, 'addMail' | 'takeDueMail' | 'removeMail' | 'postponeMail'>
  sealing: Pick<Sealing, 'keyId' | 'seal' | 'open'>
  transport: MailTransport
  observe: Observe
}

const sendEveryMs = 1_000
/** Longer than any attempt takes: until then nobody else sends it. */
const holdMs = 2 * 60_000
const firstPauseMs = 30_000
const longestPauseMs = 60 * 60_000
const sendingAtOnce = 4
const closingMs = 2_000

export function openMailRoom({ store, sealing, transport, observe }: MailRoomParts): RunningMailRoom {
  const underWay = new Set<Promise<void>>()
  let sending: Promise<void> = Promise.resolve()
  let isSending = false
  let isOpen = true
  const timer = setInterval(() => {
    if (!isSending) sending = sendDueMail()
  }, sendEveryMs).unref()

  return {
    async post(letter, to) {
      await store.addMail(sealMail(letter, to))
    },
    sealed: sealMail,
    async close() {
      isOpen = false
      clearInterval(timer)
      await sending
      // A server that hangs must not keep this one from ending.
      const cancel = idleTimers.after(closingMs, () => transport.close())
      await Promise.all(underWay)
      cancel()
    },
  }

  function sealMail({ subject, text, lifeMs }: Letter, { accountId, email: to }: Reader): NewMail {
    const id = newId('mail')
    const mail: Mail = { to, subject, text }
    return {
      id,
      accountId,
      sealed: sealing.seal(JSON.stringify(mail), sealIdentity(id, accountId)),
      keyId: sealing.keyId,
      lifeMs,
    }
  }

  /** A store that is away is asked again the next time. */
  async function sendDueMail(): Promise<void> {
    isSending = true
    try {
      while (isOpen && underWay.size < sendingAtOnce) {
        const due = await store.takeDueMail(holdMs)
        if (!due) break
        const sending: Promise<void> = deliver(due)
          .catch(() => {})
          .finally(() => underWay.delete(sending))
        underWay.add(sending)
      }
    } catch {
    } finally {
      isSending = false
    }
  }

  async function deliver(due: DueMail): Promise<void> {
    const { id: mailId, attempts } = due
    const giveUp = async (reason: string) => {
      await store.removeMail(due)
      observe({ event: 'mail_given_up', mailId, attempts, reason })
    }
    if (due.isOver) return giveUp('too late')
    const text = sealing.open(due.sealed, due.keyId, sealIdentity(mailId, due.accountId))
    if (text === null) return giveUp('sealed under another secret')
    const outcome = await transport.send({ id: mailId, ...(JSON.parse(text) as Mail) })
    if (outcome.sent) {
      observe({ event: 'mail_sent', mailId, attempts })
      return store.removeMail(due)
    }
    const { reason, refused } = outcome
    if (refused) return giveUp(reason)
    observe({ event: 'mail_failed', mailId, attempts, reason })
    await store.postponeMail(due, Math.min(longestPauseMs, firstPauseMs * 2 ** (attempts - 1)))
  }
}

function sealIdentity(mailId: string, accountId: string): string {
  return `mail ${mailId} of ${accountId}`
}
