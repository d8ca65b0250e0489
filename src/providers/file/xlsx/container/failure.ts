import { ProviderFailure } from '../../../../sheets/provider-failure.ts'

/** Everything that can be wrong with a workbook, in words its owner can act on. */
const SENTENCES = {
  empty: 'the file is empty',
  notWorkbook: 'the file is not an Excel workbook; save the spreadsheet as .xlsx and connect that file',
  oldExcel: 'the file is in the old Excel format (.xls); save it as .xlsx and connect that file',
  binaryExcel: 'the file is in the binary Excel format (.xlsb); save it as .xlsx and connect that file',
  openDocument:
    'the file is an OpenDocument spreadsheet (.ods) under another name; give it back its ending, or save it as .xlsx and connect that file',
  notOpenDocument:
    'the file is not an OpenDocument spreadsheet (.ods); save it as .ods or .xlsx and connect that file',
  password: 'the workbook is protected with a password; save it without one',
  incomplete: 'the workbook is incomplete; upload it again',
  damaged: 'the workbook is damaged; open it in a spreadsheet program and save it again',
  tooLarge:
    'the workbook is too large to be served; remove what is not needed or split it into several files',
  disordered:
    'the cells of the workbook are in an unusual order; open it in a spreadsheet program and save it again, then it can be changed',
  signed: 'the workbook is digitally signed, and a change would break the signature',
  shared: 'the workbook is shared with change tracking; stop sharing it, then it can be changed',
  protectedTab: 'the tab is protected; remove the protection, then it can be changed',
  noTab: 'the workbook has no visible tab with cells',
} as const

export type XlsxProblem = keyof typeof SENTENCES

/** `detail` is for the log only: it may quote the file. */
export function xlsxFailure(problem: XlsxProblem, detail: unknown): ProviderFailure {
  const cause = typeof detail === 'string' ? new Error(detail) : detail
  return new ProviderFailure(SENTENCES[problem], { cause })
}

const TABS_NAMED = 10
const TAB_NAME_CHARS = 40

export function tabNotFound(wanted: string, existing: readonly string[]): ProviderFailure {
  const named = existing.slice(0, TABS_NAMED).map(quote).join(', ')
  const more = existing.length > TABS_NAMED ? ` and ${existing.length - TABS_NAMED} more` : ''
  return new ProviderFailure(`the workbook has no tab named ${quote(wanted)}; its tabs are ${named}${more}`)
}

function quote(name: string): string {
  const start = [...name.slice(0, 2 * TAB_NAME_CHARS)].slice(0, TAB_NAME_CHARS).join('')
  return start === name ? `"${name}"` : `"${start}…"`
}
