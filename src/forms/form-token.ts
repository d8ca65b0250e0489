import { timingSafeEqual } from 'node:crypto'
import { randomBase62 } from '../secrets/random-base62.ts'

/** Names one view of a form's page, and says when it was shown; nobody else can make one. */
export interface FormTokens {
  create(formId: string, nowMs: number): string
  /** When the page was shown; null for what is no token of this form. */
  shownAtMs(formId: string, token: string): number | null
}

const digestCharacters = 22

export function createFormTokens(digest: (text: string) => Buffer): FormTokens {
  const signed = (formId: string, head: string) =>
    digest(`form ${formId} ${head}`).toString('base64url').slice(0, digestCharacters)
  return {
    create(formId, nowMs) {
      const head = `${nowMs.toString(36)}.${randomBase62(16)}`
      return `${head}.${signed(formId, head)}`
    },
    shownAtMs(formId, token) {
      const [, head = '', time = '', signature = ''] =
        /^(([0-9a-z]{1,12})\.[0-9A-Za-z]{16})\.([\w-]{22})$/.exec(token) ?? []
      if (head === '') return null
      const isOurs = timingSafeEqual(Buffer.from(signed(formId, head)), Buffer.from(signature))
      return isOurs ? Number.parseInt(time, 36) : null
    },
  }
}
