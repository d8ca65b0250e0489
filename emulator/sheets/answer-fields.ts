import { applyMask, type Mask, parseMask } from './fields-mask.ts'
import { invalidFields } from './google-error.ts'

/** The fields a mask may name, as deep as callers go wrong; true stands for anything below. */
type Known = true | { [name: string]: Known }

const names = (list: string): Known => Object.fromEntries(list.split(' ').map((name) => [name, true]))

const VALUE_RANGE = names('range majorDimension values')
const UPDATED: Known = {
  ...Object(names('spreadsheetId updatedRange updatedRows updatedColumns updatedCells')),
  updatedData: VALUE_RANGE,
}

const SHEET: Known = {
  ...Object(
    names(
      'merges conditionalFormats filterViews protectedRanges basicFilter charts bandedRanges developerMetadata rowGroups columnGroups slicers tables commentThreads',
    ),
  ),
  properties: {
    ...Object(
      names(
        'sheetId title index sheetType hidden tabColor tabColorStyle rightToLeft dataSourceSheetProperties',
      ),
    ),
    gridProperties: names(
      'rowCount columnCount frozenRowCount frozenColumnCount hideGridlines rowGroupControlAfter columnGroupControlAfter',
    ),
  },
  data: {
    ...Object(names('startRow startColumn rowMetadata columnMetadata')),
    rowData: {
      values: names(
        'userEnteredValue effectiveValue formattedValue userEnteredFormat effectiveFormat hyperlink note textFormatRuns dataValidation pivotTable dataSourceTable dataSourceFormula chipRuns',
      ),
    },
  },
}

const SPREADSHEET: Known = {
  ...Object(
    names('spreadsheetId namedRanges spreadsheetUrl developerMetadata dataSources dataSourceSchedules'),
  ),
  properties: names(
    'title locale autoRecalc timeZone defaultFormat iterativeCalculationSettings spreadsheetTheme importFunctionsExternalUrlAccessAllowed',
  ),
  sheets: SHEET,
}

const ANSWERS: Record<string, Known> = {
  'spreadsheets.create': SPREADSHEET,
  'spreadsheets.get': SPREADSHEET,
  'spreadsheets.getByDataFilter': SPREADSHEET,
  'spreadsheets.batchUpdate': { spreadsheetId: true, replies: true, updatedSpreadsheet: SPREADSHEET },
  'values.get': VALUE_RANGE,
  'values.batchGet': { spreadsheetId: true, valueRanges: VALUE_RANGE },
  'values.update': UPDATED,
  'values.append': { spreadsheetId: true, tableRange: true, updates: UPDATED },
  'values.clear': names('spreadsheetId clearedRange'),
  'values.batchClear': names('spreadsheetId clearedRanges'),
}

/** undefined without a mask; a path Google does not know is refused before anything runs. */
export function answerMask(method: string, fields: string | null): Mask | undefined {
  if (fields === null || fields === '') return undefined
  const mask = parseMask(fields)
  const wrong = mask ? unknownPaths(mask, ANSWERS[method] ?? true, '') : [fields]
  if (!mask || wrong.length > 0) {
    const violations = wrong.map((field) => ({
      field,
      description: `Error expanding 'fields' parameter. Cannot find matching fields for path '${field}'.`,
    }))
    throw invalidFields(violations, 'Request contains an invalid argument.')
  }
  return mask
}

function unknownPaths(mask: Mask, known: Known, prefix: string): string[] {
  if (mask === 'all' || known === true) return []
  return [...mask].flatMap(([name, sub]) => {
    if (name === '*') return []
    const below = known[name]
    return below === undefined ? [`${prefix}${name}`] : unknownPaths(sub, below, `${prefix}${name}.`)
  })
}

export function shapedBySheets(answer: unknown, mask: Mask | undefined): unknown {
  return mask ? applyMask(answer, mask) : answer
}
