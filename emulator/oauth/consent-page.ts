import { escapeHtml } from '../http/reply.ts'
import type { AuthorizationRequest, RefusedRequest } from './authorization-request.ts'
import { filePicker, isPickerField, type ShownFile, searchIn, ticksIn } from './file-picker.ts'

const scopeWords: Record<string, string> = {
  openid: 'Know who you are on Google',
  email: 'See your e-mail address',
  profile: 'See your name and picture',
  'https://www.googleapis.com/auth/userinfo.email': 'See your e-mail address',
  'https://www.googleapis.com/auth/userinfo.profile': 'See your name and picture',
  'https://www.googleapis.com/auth/drive.file':
    'See, edit, create, and delete only the Drive files you use with this app',
  'https://www.googleapis.com/auth/drive': 'See, edit, create, and delete all of your Drive files',
  'https://www.googleapis.com/auth/drive.readonly': 'See and download all your Drive files',
  'https://www.googleapis.com/auth/spreadsheets': 'See, edit, create, and delete all your spreadsheets',
  'https://www.googleapis.com/auth/spreadsheets.readonly': 'See all your spreadsheets',
}

// The first button is the one that Enter presses; row-reverse puts it where the eye ends.
const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; background: light-dark(#f0f4f9, #1e1f20); color: light-dark(#1f1f1f, #e3e3e3); }
main { max-width: 30rem; margin: 4vh auto; padding: 2rem; border-radius: 1.25rem; background: light-dark(#fff, #0e0e0e); }
h1 { font-size: 1.5rem; font-weight: 500; margin: 0 0 .5rem; overflow-wrap: anywhere; }
fieldset { border: 0; margin: 1.5rem 0 0; padding: 0; }
legend { font-weight: 600; padding: 0; }
label { display: flex; gap: .75rem; align-items: baseline; padding: .5rem 0; overflow-wrap: anywhere; }
label.stacked { display: block; }
.files { margin: 0 0 .5rem 2rem; }
.account:not(:has(> label > input:checked)) > .files { display: none; }
input:is([type=email], [type=search]) { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem; margin-top: .25rem; border: 1px solid light-dark(#747775, #8e918f); border-radius: .5rem; background: transparent; color: inherit; }
.search { display: flex; gap: .5rem; align-items: end; padding: .25rem 0; }
.search button { padding: .5rem 1rem; }
small, .note { color: light-dark(#444746, #c4c7c5); font-size: .875rem; }
.note { margin: 0; }
.actions { display: flex; flex-direction: row-reverse; gap: .75rem; margin-top: 2rem; flex-wrap: wrap; }
button { font: inherit; font-weight: 500; padding: .5rem 1.5rem; border-radius: 2rem; border: 1px solid light-dark(#747775, #8e918f); background: transparent; color: light-dark(#0b57d0, #a8c7fa); cursor: pointer; }
button[value=allow] { background: light-dark(#0b57d0, #a8c7fa); color: light-dark(#fff, #062e6f); border-color: transparent; }
:focus-visible { outline: 3px solid light-dark(#0b57d0, #a8c7fa); outline-offset: 2px; }
`

export interface OfferedAccount {
  email: string
  name: string
  /** What the person may pick of, where the app asks for a picking. */
  files: ShownFile[]
}

interface ConsentPage {
  request: AuthorizationRequest
  /** As they came: the form sends them back, so that the page needs no memory. */
  parameters: URLSearchParams
  accounts: OfferedAccount[]
  /** What the person had chosen, when the page comes again after a search. */
  chosen?: string
}

export function consentPage({ request, parameters, accounts, chosen }: ConsentPage): string {
  const hint = request.loginHint?.toLowerCase()
  const offered =
    hint && !accounts.some(({ email }) => email === hint)
      ? [{ email: hint, name: hint, files: [] }, ...accounts]
      : accounts
  const preferred = chosen ?? hint
  const checked = offered.find(({ email }) => email === preferred)?.email ?? offered[0]?.email
  const hidden = [...parameters]
    .filter(([name]) => !isOurField(name))
    .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`)
  const choices = offered.map(
    (account) => `<div class="account">${accountChoice(account, account.email === checked)}
${request.picking ? picker(account, request.picking.allowsSeveral, parameters) : ''}</div>`,
  )
  return page(
    'Sign in — Google emulator',
    `<p class="note">Google emulator · nothing here reaches Google</p>
<h1>${escapeHtml(request.clientId)} wants access to your Google Account</h1>
<p class="note">You go back to ${escapeHtml(new URL(request.redirectUri).origin)}</p>
<form method="post" action="/o/oauth2/v2/auth">
${hidden.join('\n')}
<fieldset>
<legend>Choose an account</legend>
${choices.join('\n')}
<label class="stacked" for="other">Or use another account
<input type="email" id="other" name="other_account" autocomplete="off" placeholder="name@example.com"></label>
</fieldset>
<fieldset>
<legend>Select what it can access</legend>
${request.scopes.map((scope) => scopeChoice(scope, request.picking !== undefined)).join('\n')}
</fieldset>
<div class="actions">
<button name="decision" value="allow">Continue</button>
<button name="decision" value="deny">Cancel</button>
</div>
</form>`,
  )
}

function accountChoice({ email, name }: OfferedAccount, checked: boolean): string {
  return `<label><input type="radio" name="account" value="${escapeHtml(email)}"${checked ? ' checked' : ''}>
<span>${escapeHtml(name)}<br><small>${escapeHtml(email)}</small></span></label>`
}

function picker({ email, files }: OfferedAccount, allowsSeveral: boolean, form: URLSearchParams): string {
  return filePicker({
    email,
    files,
    allowsSeveral,
    search: searchIn(form, email),
    ticked: ticksIn(form, email),
  })
}

function isOurField(name: string): boolean {
  return ['account', 'other_account', 'granted_scope', 'decision'].includes(name) || isPickerField(name)
}

/** Who the person is cannot be held back, only what they have: Google offers no box for it, either. */
const identityScope = /^(openid|email|profile|.*\/userinfo\.(email|profile))$/

/** What is picked one by one has no box either: Google offers boxes where there are several scopes to choose of. */
function scopeChoice(scope: string, isPicking: boolean): string {
  const words = `<span>${escapeHtml(scopeWords[scope] ?? scope)}<br><small>${escapeHtml(scope)}</small></span>`
  if (isPicking || identityScope.test(scope)) {
    return `<label><input type="hidden" name="granted_scope" value="${escapeHtml(scope)}">
<input type="checkbox" checked disabled>${words}</label>`
  }
  return `<label><input type="checkbox" name="granted_scope" value="${escapeHtml(scope)}" checked>
${words}</label>`
}

export function refusalPage({ status, error, description }: RefusedRequest): string {
  return page(
    `Error ${status}: ${error}`,
    `<h1>Access blocked: authorization error</h1>
<p>${escapeHtml(description)}</p>
<p class="note">Error ${status}: ${escapeHtml(error)}</p>`,
  )
}

function page(title: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`
}
