import { readFile } from 'node:fs/promises'
import type { CaptchaWish, FormWish } from '../management/forms/forms.ts'
import { Problem } from '../management/problem.ts'
import type {
  CaptchaProvider,
  CaptchaSetting,
  FieldKind,
  FormField,
  FormRecord,
  HeldEntry,
} from '../store/forms/forms.ts'
import { type Command, type Options, oneOf, positiveNumber, table, UsageError } from './command.ts'
import { listOf, setValues } from './policy-options.ts'
import { parseSheetAddress } from './sheet-address.ts'

const kinds: readonly FieldKind[] = ['text', 'long', 'email', 'number', 'date', 'checkbox', 'choice']

const settingOptions = [
  ...['fields', 'name', 'required', 'next', 'min-seconds', 'honeypot', 'set', 'framed-by'],
  ...['origins', 'intro', 'thanks', 'per-minute', 'per-hour', 'captcha', 'captcha-secret-file'],
]
const settingUsage =
  '    [--intro <text>] [--thanks <text>] [--next <url>] [--min-seconds <n>] [--honeypot <name>]\n' +
  '    [--set <column=value,…>] [--framed-by <list>] [--origins <list>] [--per-minute <n>] [--per-hour <n>]\n' +
  '    [--captcha turnstile:<site key>|hcaptcha:<site key>|none] [--captcha-secret-file <file>]'
const kindsUsage = '\n    (kinds: text, long, email, number, date, checkbox, choice=a|b)'

export const formCommands: readonly Command[] = [
  {
    words: ['form', 'create'],
    usage:
      'form create <account>/<sheet> --fields <column[:kind],…> [--name <name>] [--required <a,b>]\n' +
      settingUsage +
      kindsUsage,
    positionals: ['<account>/<sheet>'],
    options: settingOptions,
    async run({ accounts, forms, baseUrl }, [target = ''], options) {
      const { accountSlug, sheetSlug } = parseSheetAddress(target)
      const account = await accounts.find(accountSlug)
      if (account instanceof Problem) return account
      const settings = await settingsIn(options, null)
      const form = await forms.create({ account, sheetSlug, name: options.name ?? sheetSlug, settings })
      if (form instanceof Problem) return form
      const url = `${baseUrl}/f/${form.id}`
      return { json: { ...formJson(form), url }, text: `Form "${form.name}" of ${target}: ${url}` }
    },
  },
  {
    words: ['form', 'update'],
    usage:
      'form update <form id> [--fields <column[:kind],…>] [--name <name>] [--required <a,b>]\n' +
      settingUsage +
      "\n    (what is not named stays; --next none, and '' for no text)",
    positionals: ['<form id>'],
    options: settingOptions,
    async run({ forms }, [id = ''], options) {
      const before = await forms.find(id)
      if (before instanceof Problem) return before
      const settings = await settingsIn(options, before)
      const form = await forms.change(before, { name: options.name ?? before.name, settings })
      return form instanceof Problem ? form : { json: formJson(form), text: `Changed form "${form.name}".` }
    },
  },
  {
    words: ['form', 'list'],
    usage: 'form list <account>',
    positionals: ['<account>'],
    options: [],
    async run({ accounts, forms }, [slug = '']) {
      const account = await accounts.find(slug)
      if (account instanceof Problem) return account
      const list = await forms.list(account)
      const lines = list.map((form) => [
        form.id,
        form.name,
        form.isOpen ? 'open' : 'closed',
        String(form.held),
      ])
      const json = list.map((form) => ({ ...formJson(form), held: form.held }))
      return { json, text: table(['ID', 'NAME', 'STATE', 'HELD'], lines, `No forms in ${slug} yet.`) }
    },
  },
  ofForm('open', 'Opened', (forms, id) => forms.setOpen(id, true)),
  ofForm('close', 'Closed', (forms, id) => forms.setOpen(id, false)),
  {
    words: ['form', 'delete'],
    usage: 'form delete <form id>',
    positionals: ['<form id>'],
    options: [],
    async run({ forms }, [id = '']) {
      const form = await forms.remove(id)
      if (form instanceof Problem) return form
      const { name, held } = form
      const lost = held === 0 ? '' : `, and with it ${held === 1 ? 'one held entry' : `${held} held entries`}`
      return { json: { ...formJson(form), held }, text: `Deleted form "${name}"${lost}.` }
    },
  },
  {
    words: ['form', 'entries'],
    usage: 'form entries <form id>',
    positionals: ['<form id>'],
    options: [],
    async run({ forms }, [id = '']) {
      const entries = await forms.entries(id)
      if (entries instanceof Problem) return entries
      const lines = entries.map((entry) => [
        entry.id,
        entry.reason,
        day(entry),
        JSON.stringify(cellsOf(entry)),
      ])
      return {
        json: entries.map(entryJson),
        text: table(['ID', 'REASON', 'RECEIVED', 'ENTRY'], lines, 'Nothing is held.'),
      }
    },
  },
  {
    words: ['form', 'release'],
    usage: 'form release <entry id>      (or a form id: all that it holds)',
    positionals: ['<entry id>'],
    options: [],
    async run({ forms }, [id = '']) {
      if (id.startsWith('form_')) {
        const released = await forms.releaseAll(id)
        if (released instanceof Problem) return released
        const text = `Released ${released}: they are added to the sheet within seconds of a running server.`
        return { json: { released }, text }
      }
      const entry = await forms.release(id)
      if (entry instanceof Problem) return entry
      const text = 'Released: it is added to the sheet within seconds of a running server.'
      return { json: entryJson(entry), text }
    },
  },
  {
    words: ['form', 'discard'],
    usage: 'form discard <entry id>',
    positionals: ['<entry id>'],
    options: [],
    async run({ forms }, [id = '']) {
      const entry = await forms.discard(id)
      return entry instanceof Problem ? entry : { json: entryJson(entry), text: 'Thrown away.' }
    },
  },
]

type FormVerbs = Parameters<Command['run']>[0]['forms']

function ofForm(
  word: string,
  done: string,
  act: (forms: FormVerbs, id: string) => Promise<FormRecord | Problem>,
): Command {
  return {
    words: ['form', word],
    usage: `form ${word} <form id>`,
    positionals: ['<form id>'],
    options: [],
    async run({ forms }, [id = '']) {
      const form = await act(forms, id)
      return form instanceof Problem ? form : { json: formJson(form), text: `${done} form "${form.name}".` }
    },
  }
}

/** What is not named is as before, or as usual where there is no before. */
async function settingsIn(options: Options, before: FormRecord | null): Promise<FormWish['settings']> {
  const { fields: fieldList, next, honeypot, set, origins, intro, thanks } = options
  const framedBy = options['framed-by']
  const minSeconds = options['min-seconds'] === '0' ? 0 : positiveNumber('min-seconds', options)
  const entriesPerMinute = positiveNumber('per-minute', options)
  const entriesPerHour = positiveNumber('per-hour', options)
  const captcha = await captchaIn(options, before?.settings.captcha ?? null)
  return {
    ...before?.settings,
    fields: fieldsIn(fieldList, options.required, before?.settings.fields ?? []),
    ...(intro !== undefined && { intro }),
    ...(thanks !== undefined && { thanks }),
    ...(set !== undefined && { set: setValues(set) }),
    ...(framedBy !== undefined && { framedBy: listOf(framedBy) }),
    ...(origins !== undefined && { origins: listOf(origins) }),
    ...(next !== undefined && { next: next === 'none' ? null : next }),
    ...(honeypot !== undefined && { honeypot }),
    ...(minSeconds !== null && { minSeconds }),
    ...(entriesPerMinute !== null && { entriesPerMinute }),
    ...(entriesPerHour !== null && { entriesPerHour }),
    captcha,
  }
}

/** A field that stays keeps its label, help and choices. */
function fieldsIn(
  list: string | undefined,
  requiredList: string | undefined,
  before: readonly FormField[],
): readonly FormField[] {
  const required = requiredList === undefined ? null : listOf(requiredList)
  const fields =
    list === undefined
      ? before.map((field) => ({
          ...field,
          isRequired: required?.includes(field.column) ?? field.isRequired,
        }))
      : listOf(list).map((text) => {
          const field = fieldIn(text, required ?? [])
          const same = before.find(({ column }) => column === field.column)
          return {
            ...field,
            label: same?.label ?? field.label,
            help: same?.help ?? '',
            isRequired: required ? field.isRequired : (same?.isRequired ?? false),
          }
        })
  const unknown = required?.find((column) => !fields.some((field) => field.column === column))
  if (unknown) throw new UsageError(`--required names "${unknown}", which is not among --fields.`)
  return fields
}

/** The secret comes in a file: what stands in a command is seen by others. */
async function captchaIn(
  { captcha, 'captcha-secret-file': file }: Options,
  before: CaptchaSetting | null,
): Promise<CaptchaWish | null> {
  if (captcha === 'none') return null
  const secret = file === undefined ? undefined : await readFile(file, 'utf8').catch(() => null)
  if (secret === null) throw new UsageError(`The file "${file}" cannot be read.`)
  if (captcha === undefined) {
    if (secret !== undefined && !before) throw new UsageError('--captcha-secret-file needs --captcha.')
    return before && { ...before, secret }
  }
  const [provider = '', siteKey = ''] = captcha.split(/:(.*)/s)
  return { provider: oneOf<CaptchaProvider>('captcha', provider, ['turnstile', 'hcaptcha']), siteKey, secret }
}

/** `email:email`, `size:choice=S|M|L`; a text unless told. */
function fieldIn(text: string, required: readonly string[]): FormField {
  const [column = '', told = 'text'] = text.split(/:(?=(?:text|long|email|number|date|checkbox|choice)\b)/)
  const [kind = '', choices = ''] = told.split('=', 2)
  return {
    column,
    label: column,
    help: '',
    kind: oneOf<FieldKind>('fields', kind, kinds),
    isRequired: required.includes(column),
    choices: choices === '' ? [] : choices.split('|'),
  }
}

function formJson({ id, name, sheetId, isOpen, settings }: FormRecord) {
  return {
    id,
    name,
    sheet_id: sheetId,
    open: isOpen,
    intro: settings.intro,
    fields: settings.fields.map(({ column, label, help, kind, isRequired, choices }) => {
      return { column, label, help, kind, required: isRequired, choices }
    }),
    thanks: settings.thanks,
    next: settings.next,
    honeypot: settings.honeypot,
    min_seconds: settings.minSeconds,
    set: Object.fromEntries(settings.set),
    framed_by: settings.framedBy,
    origins: settings.origins,
    per_minute: settings.entriesPerMinute,
    per_hour: settings.entriesPerHour,
    captcha: settings.captcha && { provider: settings.captcha.provider, site_key: settings.captcha.siteKey },
  }
}

function entryJson(entry: HeldEntry) {
  const { id, formId, reason, isReleased } = entry
  const received_at = new Date(entry.receivedAtMs).toISOString()
  return { id, form_id: formId, reason, released: isReleased, received_at, entry: cellsOf(entry) }
}

function cellsOf({ row }: HeldEntry) {
  return Object.fromEntries(row)
}

function day({ receivedAtMs }: HeldEntry): string {
  return new Date(receivedAtMs).toISOString().slice(0, 16)
}
