/**
 * What forms look like: the page at their own address, and the HTML that owners paste elsewhere. The app imports this to show owners the
 * very page that visitors will get, so it imports nothing.
 */

export interface ShownForm {
  title: string
  /** Above the fields; '' = nothing. */
  intro: string
  fields: readonly ShownField[]
  /** A field that people do not see. */
  honeypot: string
  captcha: ShownCaptcha | null
}

export interface ShownCaptcha {
  provider: keyof typeof captchaKinds
  siteKey: string
}

/** As their own documentation has them; `hosts` is what a page has to let in for them. */
export const captchaKinds = {
  turnstile: {
    title: 'Turnstile',
    script: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    className: 'cf-turnstile',
    field: 'cf-turnstile-response',
    hosts: ['https://challenges.cloudflare.com'],
    needs: ['script-src', 'frame-src'],
  },
  hcaptcha: {
    title: 'hCaptcha',
    script: 'https://js.hcaptcha.com/1/api.js',
    className: 'h-captcha',
    field: 'h-captcha-response',
    hosts: ['https://hcaptcha.com', 'https://*.hcaptcha.com'],
    needs: ['script-src', 'frame-src', 'style-src', 'connect-src'],
  },
} as const

export interface ShownField {
  column: string
  label: string
  /** Below the label; '' = nothing. */
  help: string
  kind: 'text' | 'long' | 'email' | 'number' | 'date' | 'checkbox' | 'choice'
  isRequired: boolean
  choices: readonly string[]
}

/** What differs from one view of a form to the next. */
export interface FormState {
  action: string
  token: string
  entries: ReadonlyMap<string, string>
  /** What is wrong, by column; of the form as a whole under ''. */
  mistakes: ReadonlyMap<string, string>
  /** Where no script runs, and nothing is sent. */
  isPreview?: true
}

export const formCss = `
:root{color-scheme:light dark;--ink:#191d1b;--soft:#59615d;--ground:#fff;--field:#fff;--line:#868e89;--accent:#0f6b63;--on-accent:#fff;--bad:#b0261d;--wash:#fcebe9}
@media (prefers-color-scheme:dark){:root{--ink:#eceeed;--soft:#a2aba6;--ground:#181c1a;--field:#111413;--line:#6f7873;--accent:#4cc9b6;--on-accent:#06231f;--bad:#ff8d83;--wash:#3a1614}}
*{box-sizing:border-box}
body{margin:0;padding:32px 20px 40px;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:34rem;margin:0 auto}
h1{font-size:1.5rem;line-height:1.25;letter-spacing:-.01em;margin:0 0 1.25rem}
h1:has(+.intro){margin-bottom:.4rem}
.intro{color:var(--soft);margin:0 0 1.5rem;white-space:pre-line}
.field{margin:0 0 1.25rem}
label{display:block;font-weight:600;margin:0 0 .35rem}
.help{color:var(--soft);font-size:.9rem;line-height:1.45;margin:-.15rem 0 .45rem}
.box{display:grid;grid-template-columns:auto 1fr;column-gap:.6rem;align-items:start}
.box label{font-weight:400;margin:0}
.box input{width:1.15rem;height:1.15rem;margin:.18rem 0 0;accent-color:var(--accent)}
.box .help,.box .mistake{grid-column:2;margin-top:.15rem;margin-bottom:0}
input:not([type=checkbox]),textarea,select{display:block;width:100%;min-height:2.75rem;font:inherit;color:inherit;background:var(--field);border:1px solid var(--line);border-radius:8px;padding:.5rem .7rem}
textarea{min-height:8rem;resize:vertical}
[aria-invalid=true]{border-color:var(--bad)!important}
.mistake{color:var(--bad);font-size:.9rem;margin:.35rem 0 0}
.alert{color:var(--bad);background:var(--wash);border-radius:8px;padding:.6rem .8rem;margin:0 0 1.25rem;white-space:pre-line}
.soft{color:var(--soft);font-weight:400}
.message{color:var(--soft);white-space:pre-line;margin:0}
.trap{position:absolute;left:-9999px}
button{font:inherit;font-weight:600;min-height:2.75rem;color:var(--on-accent);background:var(--accent);border:0;border-radius:8px;padding:.5rem 1.4rem;cursor:pointer}
button:hover{filter:brightness(1.1)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
`

export function formDocument(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${formCss}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`
}

export function formContent(form: ShownForm, state: FormState): string {
  const { title, intro, fields, honeypot, captcha } = form
  const { action, token, mistakes } = state
  const whole = mistakes.get('')
  const count = mistakes.size
  const summary = whole ?? `Please check ${count === 1 ? 'one field' : `${count} fields`}.`
  return `<h1>${escapeHtml(title)}</h1>
${intro === '' ? '' : `<p class="intro">${escapeHtml(intro)}</p>\n`}${count === 0 ? '' : `<p class="alert" role="alert">${escapeHtml(summary)}</p>\n`}<form method="post" action="${escapeHtml(action)}" novalidate>
${fields.map((field, at) => fieldHtml(field, `field-${at}`, state)).join('\n')}
<div class="trap" aria-hidden="true"><label for="trap">Leave this empty</label><input id="trap" name="${escapeHtml(honeypot)}" tabindex="-1" autocomplete="off"></div>
<input type="hidden" name="_token" value="${escapeHtml(token)}">
${captcha ? captchaHtml(captcha, state.isPreview === true) : ''}<button>Send</button>
</form>`
}

function captchaHtml({ provider, siteKey }: ShownCaptcha, isPreview: boolean): string {
  const { title } = captchaKinds[provider]
  if (isPreview) return `<p class="field help">${title} is shown here.</p>\n`
  return `<div class="field">${widgetHtml({ provider, siteKey })}
<noscript><p class="mistake">To tell people from programs, this form needs JavaScript.</p></noscript></div>\n`
}

function widgetHtml({ provider, siteKey }: ShownCaptcha): string {
  const { className, script } = captchaKinds[provider]
  return `<div class="${className}" data-sitekey="${escapeHtml(siteKey)}"></div><script src="${script}" async defer></script>`
}

export function messageContent(title: string, message: string): string {
  return `<h1>${escapeHtml(title)}</h1>\n<p class="message">${escapeHtml(message)}</p>`
}

/** Plain HTML for somebody else's page, whose own style it takes. */
export function pastedHtml({ fields, honeypot, captcha }: ShownForm, address: string): string {
  const blank = { entries: new Map(), mistakes: new Map() }
  const lines = fields.map((field) => {
    const id = `form-${field.column.replace(/[^\p{L}\p{N}]+/gu, '-')}`
    const control = controlHtml(field, attributesOf(field, id, blank), '')
    const label = `<label for="${escapeHtml(id)}">${escapeHtml(field.label)}</label>`
    const help =
      field.help === '' ? '' : `\n    <small id="${escapeHtml(id)}-help">${escapeHtml(field.help)}</small>`
    return field.kind === 'checkbox'
      ? `  <p>\n    ${control}\n    ${label}${help}\n  </p>`
      : `  <p>\n    ${label}\n    ${control}${help}\n  </p>`
  })
  return `<form method="post" action="${escapeHtml(address)}">
${lines.join('\n')}
  <p hidden><label>Leave this empty <input name="${escapeHtml(honeypot)}" tabindex="-1" autocomplete="off"></label></p>
${captcha ? `  ${widgetHtml(captcha)}\n` : ''}  <button>Send</button>
</form>`
}

/** The whole page of a form within another one. */
export function frameHtml({ title }: Pick<ShownForm, 'title'>, address: string): string {
  return `<iframe src="${escapeHtml(address)}" title="${escapeHtml(title)}" style="width: 100%; height: 600px; border: 0"></iframe>`
}

type Entered = Pick<FormState, 'entries' | 'mistakes'>

function fieldHtml(field: ShownField, id: string, state: Entered): string {
  const { label, help, kind, isRequired } = field
  const mistake = state.mistakes.get(field.column)
  const control = controlHtml(field, attributesOf(field, id, state), state.entries.get(field.column) ?? '')
  const helps = help === '' ? '' : `<p class="help" id="${id}-help">${escapeHtml(help)}</p>`
  const says = mistake === undefined ? '' : `<p class="mistake" id="${id}-mistake">${escapeHtml(mistake)}</p>`
  const optional = isRequired || kind === 'checkbox' ? '' : ' <span class="soft">(optional)</span>'
  const named = `<label for="${id}">${escapeHtml(label)}${optional}</label>`
  return kind === 'checkbox'
    ? `<div class="field box">${control}${named}${helps}${says}</div>`
    : `<div class="field">${named}${helps}${control}${says}</div>`
}

function attributesOf({ column, help, isRequired }: ShownField, id: string, { mistakes }: Entered): string {
  const isWrong = mistakes.has(column)
  const about = [...(help === '' ? [] : [`${id}-help`]), ...(isWrong ? [`${id}-mistake`] : [])].join(' ')
  return [
    ...[`id="${escapeHtml(id)}"`, `name="${escapeHtml(column)}"`],
    ...(isRequired ? ['required'] : []),
    ...(isWrong ? ['aria-invalid="true"'] : []),
    ...(about === '' ? [] : [`aria-describedby="${escapeHtml(about)}"`]),
  ].join(' ')
}

function controlHtml({ kind, choices }: ShownField, attributes: string, value: string): string {
  switch (kind) {
    case 'long':
      // Browsers leave out a line end at the beginning.
      return `<textarea ${attributes}>${value === '' ? '' : `\n${escapeHtml(value)}`}</textarea>`
    case 'choice':
      return `<select ${attributes}><option value="">Choose</option>${choices.map((choice) => optionHtml(choice, value)).join('')}</select>`
    case 'checkbox':
      return `<input type="checkbox" value="yes"${value === '' ? '' : ' checked'} ${attributes}>`
    case 'number':
      return `<input type="text" inputmode="decimal" ${attributes}${valueHtml(value)}>`
    case 'text':
    case 'email':
    case 'date':
      return `<input type="${kind}" ${attributes}${valueHtml(value)}>`
  }
}

function valueHtml(value: string): string {
  return value === '' ? '' : ` value="${escapeHtml(value)}"`
}

function optionHtml(choice: string, value: string): string {
  const selected = choice === value ? ' selected' : ''
  return `<option value="${escapeHtml(choice)}"${selected}>${escapeHtml(choice)}</option>`
}

/** In one go: each `replaceAll` would take many times as long for a text of nothing but quotes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}

const entities: Partial<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
