import { hash } from 'node:crypto'
import { captchaKinds, formContent, formCss, formDocument, messageContent } from '../http/form-markup.ts'
import type { FormRecord } from '../management/forms/forms.ts'
import type { Sent } from './entry.ts'

/** What a page of a form shows beside its fields. */
export interface ShownEntry {
  form: FormRecord
  token: string
  sent: Sent
  mistakes: ReadonlyMap<string, string>
}

/** Nothing but our own style, and nowhere to send to but here and to where the form leads afterwards. */
export function contentPolicyOf({ settings }: Pick<FormRecord, 'settings'>): string {
  const { next, framedBy, captcha } = settings
  const own = `'sha256-${hash('sha256', formCss, 'base64')}'`
  const onward = next === null ? '' : ` ${new URL(next).origin}`
  const frames = framedBy.length === 0 ? "'none'" : framedBy.join(' ')
  const { hosts, needs } = captcha ? captchaKinds[captcha.provider] : { hosts: [], needs: [] }
  const styles = [own, ...(needs.some((need) => need === 'style-src') ? hosts : [])].join(' ')
  const others = needs.filter((need) => need !== 'style-src').map((need) => `${need} ${hosts.join(' ')}; `)
  return `default-src 'none'; style-src ${styles}; ${others.join('')}form-action 'self'${onward}; frame-ancestors ${frames}; base-uri 'none'`
}

export function formPage({ form, token, sent, mistakes }: ShownEntry): string {
  const { id, name, settings } = form
  // Beside this very page, which a proxy may have moved below another path.
  const state = { action: id, token, entries: sent, mistakes }
  return formDocument(
    `${mistakes.size === 0 ? '' : 'Please check: '}${name}`,
    formContent({ title: name, ...settings }, state),
  )
}

export function messagePage(title: string, message: string): string {
  return formDocument(title, messageContent(title, message))
}
