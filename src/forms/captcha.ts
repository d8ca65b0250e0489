import { hash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { CaptchaConfig } from '../config.ts'
import { Refusal } from '../errors.ts'
import { captchaKinds } from '../http/form-markup.ts'
import { openCaptchaSecret } from '../management/forms/captcha-secret.ts'
import type { FormRecord } from '../management/forms/forms.ts'
import type { Observe } from '../reporting/observe.ts'
import type { Sealing } from '../secrets/sealing.ts'
import { createTurnstile } from '../shares/turnstile.ts'
import type { Sent } from './entry.ts'

/** Asks the provider of a form's captcha whether whoever sends an entry is a person. */
export interface Captchas {
  /**
   * null: it was passed, or the form has none. What a captcha was passed for can be sent again under the same name: its provider takes each
   * response once, and a second click must not be refused for the first.
   */
  refusalOf(asked: AskedCaptcha): Promise<Refusal | null>
}

export interface AskedCaptcha {
  form: FormRecord
  sent: Sent
  /** The name of the entry. */
  name: string
}

/** One exchange with a provider; throws when there was none. */
export interface CaptchaTransport {
  exchange(wish: {
    method: 'POST'
    url: string
    headers: Record<string, string>
    body: string
    signal: AbortSignal
  }): Promise<{ status: number; body: Buffer }>
}

export interface CaptchaParts {
  transport: CaptchaTransport
  sealing: Pick<Sealing, 'open'>
  config: CaptchaConfig
  /** Questions of one account on their way to a provider. */
  askedAtOnce: number
  clock: Pick<Clock, 'elapsedMs'>
  observe: Observe
}

const siteVerify = {
  turnstile: { origin: 'https://challenges.cloudflare.com', path: '/turnstile/v0/siteverify' },
  hcaptcha: { origin: 'https://api.hcaptcha.com', path: '/siteverify' },
} as const

const keptMs = 5 * 60_000
const mostKept = 5_000
/** A provider that hangs must not gather visitors without end, whichever forms they come by. */
const mostAskedOfAll = 200
const mostWaitingOfAccount = 100
const longestWaitMs = 2_000
const longestResponse = 8_192
/** What a visitor can do nothing about: the secret is wrong, or the provider is unwell. */
const ownersTrouble = /secret|sitekey|bad-request|internal-error/

export function createCaptchas(parts: CaptchaParts): Captchas {
  const { transport, sealing, config, askedAtOnce, clock, observe } = parts
  const questions = createTurnstile({
    ...{ share: 'captchas_at_once', places: mostAskedOfAll, placesOfAccount: askedAtOnce },
    ...{ waitingOfAccount: mostWaitingOfAccount, clock, observe },
  })
  /** Passed, or being asked about. */
  const passed = new Map<string, { refusal: Promise<Refusal | null>; endMs: number }>()

  return {
    async refusalOf({ form, sent, name }) {
      const { captcha } = form.settings
      if (!captcha) return null
      const response = sent.get(captchaKinds[captcha.provider].field)?.trim() ?? ''
      if (response === '' || response.length > longestResponse) return notPassed
      const key = hash('sha256', `${form.id} ${name} ${response}`, 'base64url')
      const known = passed.get(key)
      if (known && known.endMs > clock.elapsedMs()) return known.refusal
      const refusal = ask(form, captcha, response, key)
      passed.delete(key)
      passed.set(key, { refusal, endMs: clock.elapsedMs() + keptMs })
      const [oldest] = passed.keys()
      if (passed.size > mostKept && oldest !== undefined) passed.delete(oldest)
      const outcome = await refusal
      if (outcome) passed.delete(key)
      return outcome
    },
  }

  async function ask(
    form: FormRecord,
    { provider, siteKey }: NonNullable<FormRecord['settings']['captcha']>,
    response: string,
    key: string,
  ): Promise<Refusal | null> {
    const secret = openCaptchaSecret(sealing, form)
    if (secret === null) return unavailable
    const { origin, path } = siteVerify[provider]
    // One of them lets another instance ask once more, by a name for the question.
    const own = provider === 'turnstile' ? { idempotency_key: uuidOf(key) } : { sitekey: siteKey }
    const turn = questions.turnOf(form.accountId)
    try {
      await turn.begin(longestWaitMs)
      const { status, body } = await transport.exchange({
        method: 'POST',
        url: `${config.endpoint ?? origin}${path}`,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: String(new URLSearchParams({ secret, response, ...own })),
        signal: AbortSignal.timeout(config.answerWithinMs),
      })
      const refusal = status < 500 ? refusalIn(body.toString()) : unavailable
      return refusal === null && status !== 200 ? unavailable : refusal
    } catch {
      // Whatever is in the way there, the entry is not added: a captcha that can be kept from being asked would be none.
      return unavailable
    } finally {
      turn.end()
    }
  }
}

function refusalIn(text: string): Refusal | null {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    return unavailable
  }
  const { success, 'error-codes': codes } = Object(answer) as { success?: unknown; 'error-codes'?: unknown }
  if (success === true) return null
  if (success !== false) return unavailable
  return Array.isArray(codes) && codes.some((code) => ownersTrouble.test(String(code))) ? misset : notPassed
}

/** One question has one id, however often it is asked. */
function uuidOf(key: string): string {
  const digits = hash('sha256', key, 'hex')
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(13, 16)}`]
  return [...parts, `8${digits.slice(17, 20)}`, digits.slice(20, 32)].join('-')
}

const notPassed = new Refusal('captcha_failed', {
  details: 'Please confirm that you are a person, and send it again.',
})
const unavailable = new Refusal('captcha_unavailable', {
  details: 'It could not be checked whether you are a person. Please send it again in a moment.',
  retryAfterSeconds: 10,
})
const misset = new Refusal('captcha_unavailable', {
  details: 'The captcha of this form is not set up right. Its owner can mend that.',
  retryAfterSeconds: 60,
})
