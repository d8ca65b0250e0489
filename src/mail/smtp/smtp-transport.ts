import { createTransport } from 'nodemailer'
import type { MailSetting } from '../../config.ts'
import { idleTimers } from '../../timers.ts'
import type { MailTransport } from '../mail.ts'

/** From the first packet to the last: a server that says a word now and then must not hold a mail for ever. */
export const sendingLimitMs = 30_000
const silenceLimitMs = 15_000

/** Where mail does not leave the machine, nobody can listen; the certificates of local servers are good for nothing. */
const ownMachine = /^(?:localhost|127(?:\.\d+){3}|::1)$/

/**
 * Each mail has a connection of its own: there are few, and one that hangs can be cut off without another's losing its way.
 * Certificates are always checked; without TLS nothing is sent, but to this machine.
 */
export function createSmtpTransport(setting: MailSetting, limitMs = sendingLimitMs): MailTransport {
  const { host, port, isTlsFromStart, login, from } = setting
  const isHere = ownMachine.test(host)
  const underWay = new Set<(code: string) => void>()
  const domain = /@([^\s<>@]+)>?$/.exec(from)?.[1] ?? 'localhost'
  return {
    async send({ id, to, subject, text }) {
      try {
        // An address object is not parsed, so nothing in it can become another recipient. The id is the same for each attempt:
        // where an answer was lost, whoever has the mail already knows it again.
        const message = { from, to: { name: '', address: to }, subject, text, messageId: `<${id}@${domain}>` }
        await withConnection((transport) => transport.sendMail({ ...message, headers: automatic }))
        return { sent: true }
      } catch (error) {
        const { code = 'ESMTP', command, responseCode } = error as SmtpError
        const isAboutMail = code === 'EENVELOPE' || code === 'EMESSAGE'
        const refused = isAboutMail && (responseCode === undefined ? command === 'API' : isPermanent(error))
        return { sent: false, refused, reason: [code, responseCode].filter(Boolean).join(' ') }
      }
    },
    async check() {
      try {
        await withConnection((transport) => transport.verify())
        return null
      } catch (error) {
        return (error as Error).message
      }
    },
    close() {
      for (const cutOff of underWay) cutOff('ECLOSED')
    },
  }

  async function withConnection<T>(work: (transport: ReturnType<typeof open>) => Promise<T>): Promise<T> {
    const transport = open()
    const ended = Promise.withResolvers<never>()
    const cutOff = (code: string) => ended.reject(Object.assign(new Error('it took too long'), { code }))
    const cancel = idleTimers.after(limitMs, () => cutOff('ETIMEDOUT'))
    underWay.add(cutOff)
    try {
      return await Promise.race([work(transport), ended.promise])
    } finally {
      cancel()
      underWay.delete(cutOff)
      transport.close({ force: true })
    }
  }

  function open() {
    return createTransport({
      pool: true,
      maxConnections: 1,
      // The outbox knows when to try again.
      maxRequeues: 0,
      host,
      port,
      secure: isTlsFromStart,
      requireTLS: !isTlsFromStart && !isHere,
      ignoreTLS: !isTlsFromStart && isHere,
      ...(login && { auth: { user: login.user, pass: login.password }, forceAuth: true }),
      connectionTimeout: Math.min(silenceLimitMs, limitMs),
      greetingTimeout: Math.min(silenceLimitMs, limitMs),
      socketTimeout: Math.min(silenceLimitMs, limitMs),
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }
}

/** RFC 3834: programs that answer mail by themselves leave this one alone. */
const automatic = { 'Auto-Submitted': 'auto-generated' }

interface SmtpError {
  code?: string
  command?: string
  responseCode?: number
  permanent?: boolean
}

function isPermanent(error: unknown): boolean {
  return (error as SmtpError).permanent === true
}
