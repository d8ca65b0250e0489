import type { FormField, FormRecord, FormSettings, HeldEntry } from '../../store/forms/forms.ts'
import type { Store } from '../../store/store.ts'
import type { NamedAccount } from '../accounts/accounts.ts'
import { originOf, type PolicyColumns, policyFor } from '../keys/key-policy.ts'
import { Problem } from '../problem.ts'
import type { Sheets } from '../sheets/sheets.ts'

export type { FormField, FormRecord, FormSettings, HeldEntry }

/** Forms that fill sheets, and what came by them and waits. */
export interface Forms {
  create(form: FormToCreate): Promise<FormRecord | Problem>
  list(account: NamedAccount): Promise<(FormRecord & { held: number })[]>
  /** The form, if there is one; of whatever account. */
  find(formId: string): Promise<FormRecord | Problem>
  setOpen(formId: string, isOpen: boolean): Promise<FormRecord | Problem>
  /** What is held of it goes too. */
  remove(formId: string): Promise<FormRecord | Problem>
  entries(formId: string): Promise<HeldEntry[] | Problem>
  /** It is added to the sheet as soon as a server gets to it, once. */
  release(entryId: string): Promise<HeldEntry | Problem>
  discard(entryId: string): Promise<HeldEntry | Problem>
}

export interface FormToCreate {
  account: NamedAccount
  sheetSlug: string
  name: string
  settings: Pick<FormSettings, 'fields'> & Partial<Omit<FormSettings, 'fields'>>
}

const maxFields = 50
const maxCharacters = 200

export function createForms(store: Store, sheets: Pick<Sheets, 'find'>, policyColumns: PolicyColumns): Forms {
  return {
    async create({ account, sheetSlug, name, settings: wish }) {
      const sheet = await sheets.find(account, sheetSlug)
      if (sheet instanceof Problem) return sheet
      const settings = settingsFor(wish)
      if (settings instanceof Problem) return settings
      // What a form may fill in and what it always sets is held against the sheet as a key's policy is.
      const policy = policyFor({
        may: ['add'],
        origins: 'any',
        writeColumns: settings.fields.map(({ column }) => column),
        set: settings.set,
      })
      if (policy instanceof Problem) return policy
      const fitting = await policyColumns.check(sheet, policy)
      if (fitting instanceof Problem) return fitting
      const fields = settings.fields.map((field, at): FormField => {
        return { ...field, column: fitting.writeColumns?.[at] ?? field.column }
      })
      const named = { accountId: account.id, sheetId: sheet.id, name: name.trim().slice(0, maxCharacters) }
      return store.createForm({ ...named, settings: { ...settings, fields, set: fitting.set } })
    },
    async list(account) {
      const forms = await store.formsOf(account.id)
      const counted = forms.map(async (form) => ({
        ...form,
        held: (await store.heldEntries(form.id)).length,
      }))
      return Promise.all(counted)
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
      if (!(form instanceof Problem)) await store.deleteForm(formId)
      return form
    },
    async entries(formId) {
      const form = await find(formId)
      return form instanceof Problem ? form : store.heldEntries(formId)
    },
    async release(entryId) {
      const entry = await findEntry(entryId)
      if (!(entry instanceof Problem)) await store.releaseEntry(entryId)
      return entry
    },
    async discard(entryId) {
      const entry = await findEntry(entryId)
      if (!(entry instanceof Problem)) await store.deleteEntry(entryId)
      return entry
    },
  }

  async function find(formId: string): Promise<FormRecord | Problem> {
    const form = await store.findForm(formId)
    return form ?? new Problem(`there is no form with the id "${formId}"`, { kind: 'not_found' })
  }

  async function findEntry(entryId: string): Promise<HeldEntry | Problem> {
    const entry = await store.findEntry(entryId)
    return entry ?? new Problem(`there is no held entry with the id "${entryId}"`, { kind: 'not_found' })
  }
}

function settingsFor(wish: FormToCreate['settings']): FormSettings | Problem {
  const { fields, next = null, honeypot = '_gotcha', minSeconds = 0, set = [] } = wish
  const { framedBy = [], entriesPerMinute = 10, entriesPerHour = 500 } = wish
  if (fields.length === 0 || fields.length > maxFields)
    return invalid('fields', `a form has 1 to ${maxFields} fields`)
  const names = fields.map(({ column }) => column)
  if (new Set(names).size < names.length) return invalid('fields', 'each column can be in a form once')
  if (names.some((name) => name.startsWith('_')))
    return invalid('fields', 'columns whose names begin with "_" cannot be in a form')
  const unchosen = fields.find(({ kind, choices }) => kind === 'choice' && choices.length === 0)
  if (unchosen) return invalid('fields', `name the choices of "${unchosen.column}"`)
  if (next !== null && !(URL.canParse(next) && /^https?:$/.test(new URL(next).protocol)))
    return invalid('next', 'write a whole address, like https://example.com/thanks')
  if (!/^[\w-]{1,50}$/.test(honeypot) || names.includes(honeypot))
    return invalid('honeypot', 'the honeypot is called by letters, digits, - and _, and like no column')
  if (!isCount(minSeconds, 0, 600)) return invalid('minSeconds', 'the least seconds are 0 to 600')
  if (!isCount(entriesPerMinute, 1, 1_000))
    return invalid('entriesPerMinute', 'entries per minute from one visitor are 1 to 1,000')
  if (!isCount(entriesPerHour, 1, 100_000))
    return invalid('entriesPerHour', 'entries per hour are 1 to 100,000')
  const frames = framedBy.map(originOf)
  if (frames.includes(null)) return invalid('framedBy', 'write origins, like https://example.com')
  const limits = { entriesPerMinute, entriesPerHour, minSeconds }
  const shown = framedBy.flatMap((text) => originOf(text) ?? [])
  return { fields, next, honeypot, set, framedBy: shown, ...limits }
}

function isCount(number: number, least: number, most: number): boolean {
  return Number.isSafeInteger(number) && number >= least && number <= most
}

function invalid(field: string, message: string): Problem {
  return new Problem(message, { field })
}
