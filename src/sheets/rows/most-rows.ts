import { ProviderFailure } from '../provider-failure.ts'

/**
 * Rows of a sheet, the blank ones above its last row with data among them: each has a place wherever rows are gone through by their
 * numbers, though it may be a single byte of a file. Twice what a spreadsheet program has in a sheet.
 */
const maxRows = 2_000_000

/** Throws where the last row with data is farther down. */
export function refuseLongSheet(lastRowNumber: number): void {
  if (lastRowNumber <= maxRows) return
  const most = maxRows.toLocaleString('en')
  throw new ProviderFailure(
    `the sheet has more than ${most} rows, blank ones between others included; remove those, or split the sheet into several`,
  )
}
