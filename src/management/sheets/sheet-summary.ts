import { basename } from 'node:path'
import type { SheetRecord } from '../../store/sheets/sheets.ts'

/** A sheet as its owner sees it in a list. */
export interface SheetSummary {
  id: string
  slug: string
  state: SheetState
  /** Which spreadsheet, in words. */
  spreadsheet: string
}

export type SheetState = 'live' | 'paused' | 'needs reconnect'

/** `isConnectionOver`: of the credential that the account's sheets use. */
export function summaryOf(sheet: SheetRecord, isConnectionOver: boolean): SheetSummary {
  const { id, slug } = sheet
  return { id, slug, state: stateOf(sheet, isConnectionOver), spreadsheet: spreadsheetOf(sheet) }
}

/** A paused sheet is told to be paused whatever else is wrong with it (docs/contract.md#paused-sheets). */
function stateOf({ paused, credentialId }: SheetRecord, isConnectionOver: boolean): SheetState {
  if (paused) return 'paused'
  return credentialId !== null && isConnectionOver ? 'needs reconnect' : 'live'
}

/** Titles are those of the day on which the sheet was connected. */
export function spreadsheetOf({ location }: SheetRecord): string {
  const { path, tab, title, tabTitle, spreadsheetId } = JSON.parse(location) as Record<
    string,
    string | undefined
  >
  if (path !== undefined) return tab === undefined ? basename(path) : `${basename(path)} · ${tab}`
  if (title !== undefined) return `${title} · ${tabTitle}`
  return `Google spreadsheet ${spreadsheetId}`
}
