import { hash } from 'node:crypto'
import type { FormField, FormRecord } from '../management/forms/forms.ts'
import type { Sent } from './entry.ts'

/** What a page of a form shows beside its fields. */
export interface ShownForm {
  form: FormRecord
  token: string
  sent: Sent
  mistakes: ReadonlyMap<string, string>
}

const css = `
:root{color-scheme:light dark;--ink:#1c1b1a;--soft:#5f5b57;--ground:#fff;--line:#8a8580;--accent:#1f5fbf;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#f2efec;--soft:#b8b2ac;--ground:#191817;--line:#7d7873;--accent:#8ab4f8;--bad:#ff9d94}}
*{box-sizing:border-box}
body{margin:0;padding:24px 16px;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:34rem;margin:0 auto}
h1{font-size:1.4rem;margin:0 0 1rem}
.field{margin:0 0 1.1rem}
label{display:block;font-weight:600;margin:0 0 .3rem}
.box label{display:inline;font-weight:400;margin-left:.4rem}
input:not([type=checkbox]),textarea,select{width:100%;font:inherit;color:inherit;background:transparent;border:1px solid var(--line);border-radius:6px;padding:.5rem .6rem}
select{background:var(--ground)}
textarea{min-height:7rem}
[aria-invalid=true]{border-color:var(--bad)!important}
.mistake{color:var(--bad);margin:.3rem 0 0}
h1+.mistake{margin:0 0 1rem}
.soft{color:var(--soft)}
.trap{position:absolute;left:-9999px}
button{font:inherit;font-weight:600;color:var(--ground);background:var(--accent);border:0;border-radius:6px;padding:.6rem 1.2rem;cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
`

/** Nothing but our own style, and nowhere to send to but here and to where the form leads afterwards. */
export function contentPolicyOf({ settings: { next, framedBy } }: Pick<FormRecord, 'settings'>): string {
  const style = `'sha256-${hash('sha256', css, 'base64')}'`
  const onward = next === null ? '' : ` ${new URL(next).origin}`
  const frames = framedBy.length === 0 ? "'none'" : framedBy.join(' ')
  return `default-src 'none'; style-src ${style}; form-action 'self'${onward}; frame-ancestors ${frames}; base-uri 'none'`
}

export function formPage({ form, token, sent, mistakes }: ShownForm): string {
  const { id, name, settings } = form
  const whole = mistakes.get('')
  const count = mistakes.size
  const summary =
    count === 0
      ? ''
      : `<p class="mistake" role="alert">${escaped(whole ?? `Please check ${count === 1 ? 'one field' : `${count} fields`}.`)}</p>`
  const title = `${count === 0 ? '' : 'Please check: '}${name}`
  const fields = settings.fields.map((field, at) => fieldHtml(field, at, sent, mistakes)).join('\n')
  return page(
    title,
    `<h1>${escaped(name)}</h1>
${summary}<form method="post" action="/f/${id}" novalidate>
${fields}
<div class="trap" aria-hidden="true"><label for="trap">Leave this empty</label><input id="trap" name="${escaped(settings.honeypot)}" tabindex="-1" autocomplete="off"></div>
<input type="hidden" name="_token" value="${escaped(token)}">
<button>Send</button>
</form>`,
  )
}

export function messagePage(title: string, message: string): string {
  return page(title, `<h1>${escaped(title)}</h1>\n<p class="soft">${escaped(message)}</p>`)
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<style>${css}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`
}

function fieldHtml(field: FormField, at: number, sent: Sent, mistakes: ReadonlyMap<string, string>): string {
  const { column, label, kind, isRequired } = field
  const mistake = mistakes.get(column)
  const id = `field-${at}`
  const about = mistake === undefined ? '' : ` aria-invalid="true" aria-describedby="${id}-mistake"`
  const shared = `id="${id}" name="${escaped(column)}"${isRequired ? ' required' : ''}${about}`
  const value = sent.get(column) ?? ''
  const says = mistake === undefined ? '' : `<p class="mistake" id="${id}-mistake">${escaped(mistake)}</p>`
  const named = `<label for="${id}">${escaped(label)}${isRequired ? '' : ' <span class="soft">(optional)</span>'}</label>`
  if (kind === 'checkbox') {
    const checked = value === '' ? '' : ' checked'
    const plain = `<label for="${id}">${escaped(label)}</label>`
    return `<div class="field box"><input type="checkbox" value="yes"${checked} ${shared}>${plain}${says}</div>`
  }
  return `<div class="field">${named}${controlHtml(field, shared, value)}${says}</div>`
}

function controlHtml({ kind, choices }: FormField, shared: string, value: string): string {
  if (kind === 'long') return `<textarea ${shared}>\n${escaped(value)}</textarea>`
  if (kind === 'choice') {
    const options = choices.map(
      (choice) =>
        `<option value="${escaped(choice)}"${choice === value ? ' selected' : ''}>${escaped(choice)}</option>`,
    )
    return `<select ${shared}><option value="">Choose</option>${options.join('')}</select>`
  }
  const type = kind === 'number' ? 'text" inputmode="decimal' : kind
  return `<input type="${type}" value="${escaped(value)}" ${shared}>`
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
