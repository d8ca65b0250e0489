import { z } from 'zod'
import type { FormRecord } from '../../management/forms/forms.ts'
import { guessForm } from '../../management/forms/guess-fields.ts'
import { Problem } from '../../management/problem.ts'
import type { FormView, HeldEntryView } from '../contract.ts'
import type { DashboardParts } from '../dashboard-parts.ts'
import { type OwnerCall, type Verbs, withInput } from './route.ts'

const column = z.string().max(1_000)
const text = z.string().max(2_000)
const origins = z.array(z.string().max(300)).max(50).readonly()
const wholeNumber = z.int('Write a whole number.')
const fieldInput = z.strictObject({
  column,
  label: text,
  help: text,
  kind: z.enum(['text', 'long', 'email', 'number', 'date', 'checkbox', 'choice']),
  isRequired: z.boolean(),
  choices: z.array(z.string().max(1_000)).max(200).readonly(),
})
const wishInput = z.strictObject({
  name: z.string('Give it a title.').max(200),
  settings: z.strictObject({
    intro: text,
    fields: z.array(fieldInput).max(100).readonly(),
    thanks: text,
    next: text.nullable(),
    honeypot: z.string().max(50),
    minSeconds: wholeNumber,
    set: z
      .array(z.tuple([column, z.union([text, z.number(), z.boolean()])]).readonly())
      .max(100)
      .readonly(),
    framedBy: origins,
    origins,
    entriesPerMinute: wholeNumber,
    entriesPerHour: wholeNumber,
    captcha: z
      .strictObject({
        provider: z.enum(['turnstile', 'hcaptcha']),
        siteKey: z.string().max(200),
        secret: z.string().max(500).optional(),
      })
      .nullable(),
  }),
})
const createInput = wishInput.extend({ sheetSlug: z.string().max(100) })
const stateInput = z.strictObject({ isOpen: z.boolean() })

/** docs/reliability.md#how-much-one-owner-can-make. The operator's commands know no such limit. */
const maxForms = 100

/** Three hundred rows tell what a column holds. */
const guessedRows = 300

export const formVerbs = {
  'GET /forms': {
    async owner({ session }, parts) {
      const [list, view] = await Promise.all([parts.forms.list(session.account), viewer(session, parts)])
      return { json: list.map((form) => view(form, form.held)) }
    },
  },
  'GET /sheets/{slug}/form-guess': {
    async owner({ session, names: [slug = ''] }, parts) {
      const sheet = await parts.sheets.find(session.account, slug)
      if (sheet instanceof Problem) return sheet
      const wait = await parts.pace.takeRows(session.account)
      if (wait) return wait
      const cells = await parts.ownerReading.firstCells(sheet, guessedRows)
      if (!cells) return new Problem('this sheet could not be read just now', { kind: 'provider' })
      const isMade = sheet.autoKey !== 'none'
      const keys = { madeColumn: isMade ? sheet.keyColumn : null, keyColumn: isMade ? null : sheet.keyColumn }
      const { fields, set } = guessForm({ ...cells, ...keys })
      return { json: { columns: [...cells.columns], fields, set } }
    },
  },
  'POST /forms': {
    ...withInput(createInput, async ({ session }, wish, parts) => {
      const made = await parts.forms.list(session.account)
      if (made.length >= maxForms)
        return new Problem(`you have ${maxForms} forms, which is as many as there can be; delete one first`)
      const form = await parts.forms.create({ account: session.account, ...wish, mostOfAccount: maxForms })
      if (form instanceof Problem) return form
      return { json: (await viewer(session, parts))(form, 0), status: 201 }
    }),
  },
  'POST /forms/{id}': {
    ...withInput(wishInput, async (call, wish, parts) => {
      const form = await formIn(call, parts)
      if (form instanceof Problem) return form
      const changed = await parts.forms.change(form, wish)
      return changed instanceof Problem ? changed : { json: await formView(call, changed, parts) }
    }),
  },
  'PATCH /forms/{id}': {
    takesAccessAway: (body) => (body as { isOpen?: unknown } | null)?.isOpen === false,
    ...withInput(stateInput, async (call, { isOpen }, parts) => {
      const form = await formIn(call, parts)
      if (form instanceof Problem) return form
      const changed = await parts.forms.setOpen(form.id, isOpen)
      return changed instanceof Problem ? changed : { json: await formView(call, changed, parts) }
    }),
  },
  'POST /forms/{id}/remove': {
    async owner(call, parts) {
      const form = await formIn(call, parts)
      if (form instanceof Problem) return form
      await parts.forms.remove(form.id)
      return { json: null }
    },
  },
  'GET /forms/{id}/entries': {
    async owner(call, parts) {
      const form = await formIn(call, parts)
      if (form instanceof Problem) return form
      const entries = await parts.forms.entries(form.id)
      if (entries instanceof Problem) return entries
      return {
        json: entries.map(({ id, reason, isReleased, receivedAtMs, row }): HeldEntryView => {
          return { id, reason, isReleased, receivedAtMs, cells: [...row] }
        }),
      }
    },
  },
  'POST /forms/{id}/entries/{entry}/release': { owner: (call, parts) => settle(call, parts, 'release') },
  'POST /forms/{id}/entries/{entry}/discard': { owner: (call, parts) => settle(call, parts, 'discard') },
  'POST /forms/{id}/release': {
    async owner(call, parts) {
      const form = await formIn(call, parts)
      if (form instanceof Problem) return form
      const released = await parts.forms.releaseAll(form.id)
      return released instanceof Problem ? released : { json: { released } }
    },
  },
} satisfies Partial<Verbs>

async function settle(call: OwnerCall, parts: DashboardParts, how: 'release' | 'discard') {
  const form = await formIn(call, parts)
  if (form instanceof Problem) return form
  const entry = await parts.forms.findEntry(call.names[1] ?? '')
  if (entry instanceof Problem || entry.formId !== form.id)
    return new Problem('that entry is no longer held', { kind: 'not_found' })
  const settled = await parts.forms[how](entry.id)
  return settled instanceof Problem ? settled : { json: null }
}

async function formIn({ session, names: [id = ''] }: OwnerCall, { forms }: DashboardParts) {
  const form = await forms.find(id)
  const isOwn = !(form instanceof Problem) && form.accountId === session.account.id
  return isOwn ? form : new Problem(`there is no form with the id "${id}"`, { kind: 'not_found' })
}

async function formView({ session }: OwnerCall, form: FormRecord, parts: DashboardParts): Promise<FormView> {
  const [view, held] = await Promise.all([viewer(session, parts), parts.forms.countHeld(form)])
  return view(form, held)
}

async function viewer(
  { account }: OwnerCall['session'],
  { sheets, baseUrl }: DashboardParts,
): Promise<(form: FormRecord, held: number) => FormView> {
  const slugs = new Map((await sheets.list(account)).map(({ id, slug }) => [id, slug]))
  return ({ id, name, sheetId, isOpen, createdAtMs, settings }, held) => ({
    ...{ id, name, isOpen, createdAtMs, settings, held },
    sheetSlug: slugs.get(sheetId) ?? '',
    url: `${baseUrl()}/f/${id}`,
  })
}
