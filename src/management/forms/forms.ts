import type { Sealing } from '../../secrets/sealing.ts'
import type {
  CaptchaSetting,
  EntryName,
  FormField,
  FormRecord,
  FormSettings,
  HeldEntry,
} from '../../store/forms/forms.ts'
import { newId } from '../../store/new-id.ts'
import type { Store } from '../../store/store.ts'
import type { NamedAccount } from '../accounts/accounts.ts'
import { originOf, type PolicyColumns, policyFor } from '../keys/key-policy.ts'
import { Problem } from '../problem.ts'
import type { SheetRecord, Sheets } from '../sheets/sheets.ts'
import { sealCaptchaSecret } from './captcha-secret.ts'

export type { EntryName, FormField, FormRecord, FormSettings, HeldEntry }

/** Forms that fill sheets, and what came by them and waits. */
export interface Forms {
  create(form: FormToCreate): Promise<FormRecord | Problem>
  list(account: NamedAccount): Promise<(FormRecord & { held: number })[]>
  /** As a whole: what the wish leaves out is as usual again. */
  change(form: FormRecord, wish: FormWish): Promise<FormRecord | Problem>
  /** The form, if there is one; of whatever account. */
  find(formId: string): Promise<FormRecord | Problem>
  setOpen(formId: string, isOpen: boolean): Promise<FormRecord | Problem>
  /** What is held of it goes too; `held` says how many entries. */
  remove(formId: string): Promise<(FormRecord & { held: number }) | Problem>
  entries(formId: string): Promise<HeldEntry[] | Problem>
  /** How many entries wait for the owner. */
  countHeld(form: FormRecord): Promise<number>
  findEntry(entryId: string): Promise<HeldEntry | Problem>
  /** It is added to the sheet as soon as a server gets to it, once. */
  release(entryId: string): Promise<HeldEntry | Problem>
  /** All that the form holds; how many they are. */
  releaseAll(formId: string): Promise<number | Problem>
  discard(entryId: string): Promise<HeldEntry | Problem>
}

/** A form as its owner wishes it; what is left out is as usual. */
export interface FormWish {
  name: string
  settings: Pick<FormSettings, 'fields'> &
    Partial<Omit<FormSettings, 'fields' | 'captcha'>> & { captcha?: CaptchaWish | null }
}

/** Without a secret, the one of before stays. */
export type CaptchaWish = CaptchaSetting & { secret?: string | undefined }

export interface FormToCreate extends FormWish {
  account: NamedAccount
  sheetSlug: string
  /** Without it, any number. */
  mostOfAccount?: number
}

const maxFields = 50
const maxCharacters = 200
const maxText = 2_000
/** All that its page shows and its owner sees of it, for whoever asks, as often as they like. */
const maxSettingsCharacters = 20_000

export interface FormsParts {
  store: Store
  sheets: Pick<Sheets, 'find'>
  policyColumns: PolicyColumns
  sealing: Pick<Sealing, 'seal' | 'keyId'>
}

export function createForms({ store, sheets, policyColumns, sealing }: FormsParts): Forms {
  return {
    async create({ account, sheetSlug, mostOfAccount, ...wish }) {
      const sheet = await sheets.find(account, sheetSlug)
      if (sheet instanceof Problem) return sheet
      const checked = await fitting(sheet, wish)
      if (checked instanceof Problem) return checked
      const of = { id: newId('form'), accountId: account.id }
      const captchaSecret = secretFor(wish.settings.captcha, of, null)
      if (captchaSecret instanceof Problem) return captchaSecret
      return store.createForm({ ...of, sheetId: sheet.id, ...checked, captchaSecret }, mostOfAccount)
    },
    async list(account) {
      const [forms, held] = await Promise.all([store.formsOf(account.id), store.heldCounts(account.id)])
      return forms.map((form) => ({ ...form, held: held.get(form.id) ?? 0 }))
    },
    async change(form, wish) {
      const sheet = await store.sheetById(form.sheetId)
      if (!sheet) return gone(form.id)
      const checked = await fitting(sheet, wish)
      if (checked instanceof Problem) return checked
      const captchaSecret = secretFor(wish.settings.captcha, form, form)
      if (captchaSecret instanceof Problem) return captchaSecret
      await store.changeForm(form.id, { ...checked, captchaSecret })
      return { ...form, ...checked, captchaSecret }
    },
    find,
    async setOpen(formId, isOpen) {
      const form = await find(formId)
      if (form instanceof Problem) return form
      await store.setFormOpen(formId, isOpen)
      return { ...form, isOpen }
    },
    async remove(formId) {
      const form = await find(formId)
      return form instanceof Problem ? form : { ...form, held: await store.deleteForm(formId) }
    },
    async entries(formId) {
      const form = await find(formId)
      return form instanceof Problem ? form : store.heldEntries(formId)
    },
    async countHeld({ id, accountId }) {
      return (await store.heldCounts(accountId)).get(id) ?? 0
    },
    findEntry,
    async release(entryId) {
      const entry = await findEntry(entryId)
      if (!(entry instanceof Problem)) await store.releaseEntry(entryId)
      return entry
    },
    async releaseAll(formId) {
      const form = await find(formId)
      return form instanceof Problem ? form : store.releaseEntries(formId)
    },
    async discard(entryId) {
      const entry = await findEntry(entryId)
      if (!(entry instanceof Problem)) await store.deleteEntry(entryId)
      return entry
    },
  }

  async function find(formId: string): Promise<FormRecord | Problem> {
    return (await store.findForm(formId)) ?? gone(formId)
  }

  /** The wish as the sheet can fulfil it. */
  async function fitting(
    sheet: SheetRecord,
    { name, settings: wish }: FormWish,
  ): Promise<Pick<FormRecord, 'name' | 'settings'> | Problem> {
    if (name.trim() === '') return invalid('name', 'give the form a title')
    const settings = settingsFor(wish)
    if (settings instanceof Problem) return settings
    const problem = problemWithKey(sheet, settings)
    if (problem) return problem
    // What a form may fill in and what it always sets is held against the sheet as a key's policy is.
    const policy = policyFor({
      may: ['add'],
      origins: 'any',
      writeColumns: settings.fields.map(({ column }) => column),
      set: settings.set,
    })
    if (policy instanceof Problem) return policy
    const known = await policyColumns.check(sheet, policy)
    if (known instanceof Problem) return known
    const fields = settings.fields.map((field, at): FormField => {
      return { ...field, column: known.writeColumns?.[at] ?? field.column }
    })
    const fitted = { ...settings, fields, set: known.set }
    if (JSON.stringify(fitted).length > maxSettingsCharacters)
      return invalid('fields', 'the form is too long: shorten its texts, or offer fewer choices')
    return { name: name.trim().slice(0, maxCharacters), settings: fitted }
  }

  function secretFor(
    wish: CaptchaWish | null | undefined,
    of: Pick<FormRecord, 'id' | 'accountId'>,
    before: FormRecord | null,
  ): FormRecord['captchaSecret'] | Problem {
    if (!wish) return null
    const secret = wish.secret?.trim() ?? ''
    if (secret !== '')
      return /^[\x21-\x7e]{1,200}$/.test(secret)
        ? sealCaptchaSecret(sealing, secret, of)
        : invalid('captchaSecret', 'this is no secret key of a captcha')
    const { provider, siteKey } = before?.settings.captcha ?? {}
    const isSame = wish.provider === provider && wish.siteKey.trim() === siteKey
    if (isSame && before?.captchaSecret) return before.captchaSecret
    return invalid('captchaSecret', 'write the secret key that belongs to the site key')
  }

  async function findEntry(entryId: string): Promise<HeldEntry | Problem> {
    const entry = await store.findEntry(entryId)
    return entry ?? new Problem(`there is no held entry with the id "${entryId}"`, { kind: 'not_found' })
  }
}

function settingsFor(wish: FormWish['settings']): FormSettings | Problem {
  const { fields, intro = '', thanks = '', next = null, set = [] } = wish
  const { honeypot = '_gotcha', minSeconds = 0, entriesPerMinute = 10, entriesPerHour = 500 } = wish
  if (fields.length === 0 || fields.length > maxFields)
    return invalid('fields', `a form has 1 to ${maxFields} fields`)
  const names = fields.map(({ column }) => column)
  if (new Set(names).size < names.length) return invalid('fields', 'each column can be in a form once')
  const twice = set.find(([column]) => names.includes(column))
  if (twice) return invalid('set', `"${twice[0]}" is a field: what is always set cannot be filled in`)
  if (names.some((name) => name.startsWith('_')))
    return invalid('fields', 'columns whose names begin with "_" cannot be in a form')
  const unnamed = fields.find(({ label }) => label.trim() === '')
  if (unnamed) return invalid('fields', `"${unnamed.column}" needs a label`)
  if ([intro, thanks, ...fields.flatMap(({ label, help }) => [label, help])].some(isTooLong))
    return invalid('fields', `texts of a form have at most ${maxText.toLocaleString('en')} characters`)
  const unchosen = fields.find(({ kind, choices }) => kind === 'choice' && choices.length === 0)
  if (unchosen) return invalid('fields', `name the choices of "${unchosen.column}"`)
  const nextUrl = next === null ? null : wholeUrl(next)
  if (next !== null && nextUrl === null)
    return invalid('next', 'enter a full URL, such as https://example.com/thanks')
  if (!/^[\w-]{1,50}$/.test(honeypot) || names.includes(honeypot))
    return invalid('honeypot', 'the honeypot is called by letters, digits, - and _, and like no column')
  if (!isCount(minSeconds, 0, 600)) return invalid('minSeconds', 'the least seconds are 0 to 600')
  if (!isCount(entriesPerMinute, 1, 1_000))
    return invalid('entriesPerMinute', 'entries per minute from one visitor are 1 to 1,000')
  if (!isCount(entriesPerHour, 1, 100_000))
    return invalid('entriesPerHour', 'entries per hour are 1 to 100,000')
  const framedBy = originsIn(wish.framedBy)
  if (framedBy === null) return invalid('framedBy', writeOrigins)
  const origins = originsIn(wish.origins)
  if (origins === null) return invalid('origins', writeOrigins)
  const captcha = wish.captcha
    ? { provider: wish.captcha.provider, siteKey: wish.captcha.siteKey.trim() }
    : null
  if (captcha && !/^[\w.-]{1,100}$/.test(captcha.siteKey))
    return invalid('captchaSiteKey', 'write the site key, as the provider of the captcha shows it')
  const limits = { honeypot, entriesPerMinute, entriesPerHour, minSeconds }
  return { intro, fields, thanks, next: nextUrl, set, framedBy, origins, captcha, ...limits }
}

/** A sheet whose keys people give takes no row without one. */
function problemWithKey({ keyColumn, autoKey }: SheetRecord, { fields, set }: FormSettings): Problem | null {
  if (keyColumn === null) return null
  const field = fields.find(({ column }) => column === keyColumn)
  if (autoKey !== 'none')
    return field ? invalid('fields', `"${keyColumn}" is the key column, which Rowport fills in`) : null
  if (field?.isRequired || set.some(([column]) => column === keyColumn)) return null
  return invalid(
    'fields',
    `"${keyColumn}" is the key column: make it a required field, or let Rowport make the keys`,
  )
}

/** As it stands in a header: signs beyond ASCII are encoded there. */
function wholeUrl(text: string): string | null {
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) return null
  const { href, username, password } = new URL(text)
  return username === '' && password === '' ? href : null
}

const writeOrigins = 'write origins, like https://example.com'

/** null where one of them is none. */
function originsIn(texts: readonly string[] = []): string[] | null {
  const origins = texts.map(originOf)
  const known = origins.filter((origin) => origin !== null)
  return known.length === origins.length ? [...new Set(known)] : null
}

function isTooLong(text: string): boolean {
  return text.length > maxText
}

function gone(formId: string): Problem {
  return new Problem(`there is no form with the id "${formId}"`, { kind: 'not_found' })
}

function isCount(number: number, least: number, most: number): boolean {
  return Number.isSafeInteger(number) && number >= least && number <= most
}

function invalid(field: string, message: string): Problem {
  return new Problem(message, { field })
}
