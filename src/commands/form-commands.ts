import { Problem } from '../management/problem.ts'
import type { FieldKind, FormField, FormRecord, HeldEntry } from '../store/forms/forms.ts'
import { type Command, oneOf, positiveNumber, table, UsageError } from './command.ts'
import { listOf, setValues } from './policy-options.ts'
import { parseSheetAddress } from './sheet-address.ts'

const kinds: readonly FieldKind[] = ['text', 'long', 'email', 'number', 'date', 'checkbox', 'choice']

export const formCommands: readonly Command[] = [
  {
    words: ['form', 'create'],
    usage:
      'form create <account>/<sheet> --fields <column[:kind],…> [--name <name>] [--required <a,b>]\n' +
      '    [--intro <text>] [--thanks <text>] [--next <url>] [--min-seconds <n>] [--honeypot <name>]\n' +
      '    [--set <column=value,…>] [--framed-by <list>] [--origins <list>]\n' +
      '    [--per-minute <n>] [--per-hour <n>]      (kinds: text, long, email, number, date, checkbox, choice=a|b)',
    positionals: ['<account>/<sheet>'],
    options: [
      ...['fields', 'name', 'required', 'next', 'min-seconds', 'honeypot', 'set', 'framed-by'],
      ...['origins', 'intro', 'thanks', 'per-minute', 'per-hour'],
    ],
    async run({ accounts, forms, baseUrl }, [target = ''], options) {
      const { accountSlug, sheetSlug } = parseSheetAddress(target)
      const account = await accounts.find(accountSlug)
      if (account instanceof Problem) return account
      const { name = sheetSlug, intro = '', thanks = '', next, honeypot, set, origins = '' } = options
      const required = listOf(options.required ?? '')
      const fields = listOf(options.fields ?? '').map((text) => fieldIn(text, required))
      const unknown = required.find((column) => !fields.some((field) => field.column === column))
      if (unknown) throw new UsageError(`--required names "${unknown}", which is not among --fields.`)
      const minSeconds = positiveNumber('min-seconds', options)
      const entriesPerMinute = positiveNumber('per-minute', options)
      const entriesPerHour = positiveNumber('per-hour', options)
      const settings = {
        ...{ fields, intro, thanks, set: setValues(set) },
        ...{ framedBy: listOf(options['framed-by'] ?? ''), origins: listOf(origins) },
        ...(next !== undefined && { next }),
        ...(honeypot !== undefined && { honeypot }),
        ...(minSeconds !== null && { minSeconds }),
        ...(entriesPerMinute !== null && { entriesPerMinute }),
        ...(entriesPerHour !== null && { entriesPerHour }),
      }
      const form = await forms.create({ account, sheetSlug, name, settings })
      if (form instanceof Problem) return form
      const url = `${baseUrl}/f/${form.id}`
      return { json: { ...formJson(form), url }, text: `Form "${form.name}" of ${target}: ${url}` }
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
  ofForm('delete', 'Deleted', (forms, id) => forms.remove(id)),
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
  ofEntry('release', 'Released: it is added to the sheet within seconds of a running server.'),
  ofEntry('discard', 'Thrown away.'),
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

function ofEntry(word: 'release' | 'discard', done: string): Command {
  return {
    words: ['form', word],
    usage: `form ${word} <entry id>`,
    positionals: ['<entry id>'],
    options: [],
    async run({ forms }, [id = '']) {
      const entry = await forms[word](id)
      return entry instanceof Problem ? entry : { json: entryJson(entry), text: done }
    },
  }
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
