import { SPREADSHEET_MIME } from '../drive/file-store.ts'
import type { Picker } from '../google-api.ts'
import { escapeHtml } from '../http/reply.ts'
import type { Picking } from './authorization-request.ts'

/** Google's Picker as `trigger_onepick` opens it, here as a part of the consent page. */
export interface ShownFile {
  spreadsheetId: string
  title: string
}

/** What the app lets this person choose from. */
export function filesToPick(
  files: Picker,
  user: string,
  { mimeTypes, fileIds }: Omit<Picking, 'allowsSeveral'>,
): ShownFile[] {
  if (mimeTypes.length > 0 && !mimeTypes.includes(SPREADSHEET_MIME)) return []
  const all = files.spreadsheetsOf(user)
  return fileIds.length === 0 ? all : all.filter(({ spreadsheetId }) => fileIds.includes(spreadsheetId))
}

const searchName = (email: string): string => `picker_search ${email}`

/** Fields that are the person's and not the app's. */
export function isPickerField(name: string): boolean {
  return name === 'picked_file' || name.startsWith(searchName(''))
}

/** Boxes of all accounts come back, also of those that were not chosen. */
export function ticksIn(form: URLSearchParams, email: string): string[] {
  return form.getAll('picked_file').flatMap((choice) => {
    const [account, spreadsheetId = ''] = choice.split(' ')
    return account === email ? [spreadsheetId] : []
  })
}

export function searchIn(form: URLSearchParams, email: string): string {
  return form.get(searchName(email))?.trim() ?? ''
}

interface FilePicker {
  email: string
  files: ShownFile[]
  allowsSeveral: boolean
  search: string
  ticked: string[]
}

/** Without a script: the button brings the page again, and what is ticked stays in sight. */
export function filePicker({ email, files, allowsSeveral, search, ticked }: FilePicker): string {
  const wanted = search.toLowerCase()
  const shown = files.filter(
    ({ spreadsheetId, title }) => ticked.includes(spreadsheetId) || title.toLowerCase().includes(wanted),
  )
  const boxes = shown.map(
    ({ spreadsheetId, title }) =>
      `<label><input type="${allowsSeveral ? 'checkbox' : 'radio'}" name="picked_file" value="${escapeHtml(`${email} ${spreadsheetId}`)}"${ticked.includes(spreadsheetId) ? ' checked' : ''}>
<span>${escapeHtml(title)}</span></label>`,
  )
  const none = search === '' ? 'There is nothing to pick.' : 'No file has this in its name.'
  return `<fieldset class="files"><legend>Pick the files it can use</legend>
<div class="search"><input type="search" name="${escapeHtml(searchName(email))}" value="${escapeHtml(search)}" placeholder="Search by name" aria-label="Search the files of ${escapeHtml(email)}" autocomplete="off">
<button name="decision" value="search">Search</button></div>
${boxes.length > 0 ? boxes.join('\n') : `<p class="note">${none}</p>`}
</fieldset>`
}
