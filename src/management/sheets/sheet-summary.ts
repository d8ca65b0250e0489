import type { PlaceDescription } from '../../sheets/provider-kind.ts'
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

/** `isConnectionOver`: of the credential that the sheet uses. */
export function summaryOf(
  sheet: SheetRecord,
  place: PlaceDescription,
  isConnectionOver: boolean,
): SheetSummary {
  const { id, slug } = sheet
  return { id, slug, state: stateOf(sheet, isConnectionOver), spreadsheet: place.words }
}

/** A paused sheet is told to be paused whatever else is wrong with it (docs/contract.md#paused-sheets). */
function stateOf({ paused }: SheetRecord, isConnectionOver: boolean): SheetState {
  if (paused) return 'paused'
  return isConnectionOver ? 'needs reconnect' : 'live'
}
