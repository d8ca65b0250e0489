import { countOf } from '../plain-words.ts'
/** What a mail says, and how long it is worth reading. */
export interface Letter {
  subject: string
  text: string
  lifeMs: number
}

/** A link in a mail is good for so long, and so is the mail itself. */
export const resetLinkLifeMs = 60 * 60_000
const dayMs = 24 * 60 * 60_000
export const verifyLinkLifeMs = dayMs

/** An account at a server, for the last lines of every letter. */
export interface Letterhead {
  /** How people reach the server, without a slash at the end. */
  baseUrl: string
  accountSlug: string
}

export function passwordResetLetter(head: Letterhead, token: string): Letter {
  return letter(head, resetLinkLifeMs, 'Reset your Rowport password', [
    'Someone, hopefully you, asked to reset the password of your Rowport account.',
    `To choose a new password, open this link within an hour. It works once:`,
    `${head.baseUrl}/reset-password?token=${token}`,
    'If it wasn’t you, ignore this email. Your password stays as it is.',
  ])
}

export function verificationLetter(head: Letterhead, token: string): Letter {
  return letter(head, verifyLinkLifeMs, 'Verify your email for Rowport', [
    'To confirm that this email is yours, open this link within 24 hours:',
    `${head.baseUrl}/verify-email?token=${token}`,
    'Once it’s verified, Rowport emails you when a sheet breaks, a connection ends or your quota runs low. You can turn that off in Settings.',
    'If you didn’t sign up for Rowport, ignore this email.',
  ])
}

/** To the address that was the owner's until now. */
export function emailChangedLetter(head: Letterhead): Letter {
  return letter(head, dayMs, 'Your Rowport email was changed', [
    'Your Rowport account now uses a different email. Nothing more is sent to this one.',
    'If it wasn’t you, contact your administrator right away: someone else is signed in to your account.',
  ])
}

export function connectionEndedLetter(
  head: Letterhead,
  { providerName, label, sheets }: { providerName: string; label: string; sheets: number },
): Letter {
  const affected =
    sheets === 0
      ? 'No sheet uses it right now.'
      : `${countOf(sheets, 'sheet')} can’t be read or changed until you reconnect. Clients get an error until then.`
  return letter(head, dayMs, `Rowport lost access to ${providerName}`, [
    `Rowport can no longer use your ${providerName} account (${label}). Access was revoked there, or it expired.`,
    affected,
    'Reconnect in Settings. URLs and keys stay the same:',
    `${head.baseUrl}/settings`,
  ])
}

export function sheetBrokenLetter(head: Letterhead, slug: string, reason: string): Letter {
  return letter(head, dayMs, `Sheet “${slug}” is broken`, [
    `Rowport can’t read or change the sheet “${slug}”:`,
    `  ${sentence(reason)}`,
    'Clients may get errors, or the last rows that were loaded. See what to do:',
    sheetUrl(head, slug),
  ])
}

export function sheetRecoveredLetter(head: Letterhead, slug: string): Letter {
  return letter(head, dayMs, `Sheet “${slug}” works again`, [
    `Rowport can read the sheet “${slug}” again. You don’t have to do anything.`,
    sheetUrl(head, slug),
  ])
}

export function webhookOffLetter(
  head: Letterhead,
  { host, reason, sheetSlug }: { host: string; reason: string; sheetSlug: string | null },
): Letter {
  const what = sheetSlug === null ? 'events of your account' : `changes of the sheet “${sheetSlug}”`
  return letter(head, dayMs, `A webhook to ${host} was turned off`, [
    `Rowport no longer sends ${what} to ${host}:`,
    `  ${sentence(reason)}`,
    'Nothing is lost as long as the changes are kept. Fix the receiver, then turn the webhook on again. It continues where it stopped:',
    `${head.baseUrl}/webhooks`,
  ])
}

export interface QuotaFigures {
  used: number
  limit: number
  resetsAtMs: number
  /** By whom: clients with a key, or readers of public sheets without one. */
  by: 'keys' | 'public'
}

export function quotaLetter(head: Letterhead, figures: QuotaFigures): Letter {
  const { used, limit, resetsAtMs, by } = figures
  const requests = by === 'keys' ? 'requests' : 'requests without a key'
  const isUsedUp = used >= limit
  const resets = dateOf(resetsAtMs)
  return letter(
    head,
    dayMs,
    isUsedUp ? `You’ve used all of this month’s ${requests}` : `You’ve used 80% of this month’s ${requests}`,
    [
      isUsedUp
        ? `All ${numberOf(limit)} ${requests} of this month are used. Further ones are refused with 429 until ${resets}.`
        : `${numberOf(used)} of ${numberOf(limit)} ${requests} are used. The quota resets on ${resets}.`,
      'See which sheets and keys use it:',
      `${head.baseUrl}/usage`,
      'To raise the limit, ask your administrator for another plan.',
    ],
  )
}

function letter(head: Letterhead, lifeMs: number, subject: string, paragraphs: readonly string[]): Letter {
  const sender = `Rowport, for the account “${head.accountSlug}” at ${head.baseUrl}`
  return { subject, text: `${[...paragraphs, `--\u0020\n${sender}`].join('\n\n')}\n`, lifeMs }
}

function sheetUrl({ baseUrl }: Letterhead, slug: string): string {
  return `${baseUrl}/sheets/${slug}`
}

function numberOf(count: number): string {
  return count.toLocaleString('en-US')
}

function dateOf(atMs: number): string {
  return new Date(atMs).toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
}

function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
