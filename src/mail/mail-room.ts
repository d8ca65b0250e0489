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
  store: Pick<Store, 'addMail' | 'accountsWithDueMail' | 'takeDueMail' | 'removeMail' | 'postponeMail'>
  sealing: Pick<Sealing, 'keyId' | 'seal' | 'open'>
  transport: MailTransport
  observe: Observe
}

const sendEveryMs = 1_000
/** Longer than any attempt takes: until then nobody else sends it. */
const holdMs = 2 * 60_000
const firstPauseMs = 30_000
const longestPauseMs = 60 * 60_000
/** As many accounts have one under way, and no account two. */
const sendingAtOnce = 4
/** Some of those that wait; who of them has not been served for longest is next. */
const accountsLookedAt = 500
const accountsRemembered = 10_000
const closingMs = 2_000

export function openMailRoom({ store, sealing, transport, observe }: MailRoomParts): RunningMailRoom {
  /** By the account whose mail it is. */
  const underWay = new Map<string, Promise<void>>()
  /**
   * In the order in which they were served. Turns go round: whoever has hundreds to send, or signs up under sixty names, keeps nobody's
   * link to sign in from going out.
   */
  const served = new Set<string>()
  let sending: Promise<void> = Promise.resolve()
  let isSending = false
  let isOpen = true
  const timer = setInterval(sendNext, sendEveryMs).unref()

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
      await Promise.all(underWay.values())
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

  function sendNext(): void {
    if (isOpen && !isSending) sending = sendDueMail()
  }

  /** A store that is away is asked again the next time. */
  async function sendDueMail(): Promise<void> {
    isSending = true
    try {
      while (isOpen && underWay.size < sendingAtOnce) {
        const accountId = nextInTurn(await store.accountsWithDueMail(accountsLookedAt))
        if (accountId === null) break
        const due = await store.takeDueMail(holdMs, accountId)
        if (due) start(due)
      }
    } catch {
    } finally {
      isSending = false
    }
  }

  function nextInTurn(waiting: readonly string[]): string | null {
    const free = new Set(waiting.filter((accountId) => !underWay.has(accountId)))
    for (const accountId of free) if (!served.has(accountId)) return accountId
    for (const accountId of served) if (free.has(accountId)) return accountId
    return null
  }

  function noteServed(accountId: string): void {
    served.delete(accountId)
    served.add(accountId)
    const [oldest] = served.size > accountsRemembered ? served : []
    if (oldest !== undefined) served.delete(oldest)
  }

  function start(due: DueMail): void {
    const done = () => {
      underWay.delete(due.accountId)
      sendNext()
    }
    noteServed(due.accountId)
    underWay.set(due.accountId, deliver(due).then(done, done))
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
