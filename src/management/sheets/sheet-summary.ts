import type { PlaceDescription } from '../../sheets/provider-kind.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'

/** A sheet as its owner sees it in a list. */
export interface ListedSheet {
  id: string
  slug: string
  state: ListedSheetState
  /** Which spreadsheet, in words. */
  spreadsheet: string
}

export type ListedSheetState = 'live' | 'paused' | 'needs reconnect'

/** `isConnectionOver`: of the credential that the sheet uses. */
export function summaryOf(
  sheet: SheetRecord,
  place: PlaceDescription,
  isConnectionOver: boolean,
): ListedSheet {
  const { id, slug } = sheet
  return { id, slug, state: stateOf(sheet, isConnectionOver), spreadsheet: place.words }
}

/** A paused sheet is told to be paused whatever else is wrong with it (docs/contract.md#paused-sheets). */
function stateOf({ paused }: SheetRecord, isConnectionOver: boolean): ListedSheetState {
  if (paused) return 'paused'
  return isConnectionOver ? 'needs reconnect' : 'live'
}
