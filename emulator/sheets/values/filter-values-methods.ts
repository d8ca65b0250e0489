import { columnLetters, quoteTitle, writeA1 } from '../a1.ts'
import { readDimension, readInputOption, readValueRange, type WrittenValues } from '../cells/value-input.ts'
import { inContext, invalidArgument } from '../google-error.ts'
import { type Area, isObject, type Spreadsheet } from '../model.ts'
import type { Place } from '../resolve-range.ts'
import type { SheetsCall, SheetsMethod } from '../sheets-method.ts'
import { placesOfFilter } from './data-filter.ts'
import { readValues } from './read-values.ts'
import { readEcho, readRender } from './render-options.ts'
import { clearArea, totalsOf, updateAnswer, writeAt } from './write-values.ts'

/** values.*ByDataFilter: the same work, addressed by metadata, grid range or A1. */
export const filterValuesMethods: Record<string, SheetsMethod> = {
  'values.batchGetByDataFilter': {
    writes: false,
    repeatable: true,
    run(spreadsheet, call) {
      const body = isObject(call.body) ? call.body : {}
      const dimension = readDimension(body.majorDimension)
      const render = readRender(body.valueRenderOption, body.dateTimeRenderOption)
      const valueRanges = placesOf(spreadsheet, call).map(({ place, filters }) => ({
        valueRange: readValues(spreadsheet, place, dimension, render),
        dataFilters: filters,
      }))
      return { spreadsheetId: spreadsheet.spreadsheetId, ...(valueRanges.length > 0 && { valueRanges }) }
    },
  },

  'values.batchClearByDataFilter': {
    writes: true,
    run(draft, call) {
      const places = placesOf(draft, call).map(({ place }) => place)
      for (const place of places) clearArea(draft, place, call.user)
      const clearedRanges = places.map((place) => writeA1(place.sheet.title, place.area))
      return { spreadsheetId: draft.spreadsheetId, ...(clearedRanges.length > 0 && { clearedRanges }) }
    },
  },

  'values.batchUpdateByDataFilter': {
    writes: true,
    checkBody: (call) => void readData(call),
    run(draft, call) {
      const body = isObject(call.body) ? call.body : {}
      const how = { input: readInputOption(body.valueInputOption), editor: call.user }
      const echo = readEcho(body)
      const all = readData(call).flatMap(({ filter, values }, index) => {
        try {
          return placesOfFilter(draft, filter).map((place) => {
            refuseOverrun(place, values)
            const { sheet, area } = place
            return {
              filter,
              values,
              written: writeAt(draft, sheet, area.startRow, area.startColumn, values, how),
            }
          })
        } catch (error) {
          throw inContext(`Invalid dataFilterValueRange[${index}]`, error)
        }
      })
      return {
        spreadsheetId: draft.spreadsheetId,
        ...totalsOf(all.map(({ written }) => written)),
        ...(all.length > 0 && {
          responses: all.map(({ filter, values, written }) => {
            const { spreadsheetId: _id, ...answer } = updateAnswer(draft, written, values, echo)
            return { ...answer, dataFilter: filter }
          }),
        }),
      }
    },
  },
}

/** A place two filters stand for is read once and names both. */
function placesOf(spreadsheet: Spreadsheet, call: SheetsCall): { place: Place; filters: unknown[] }[] {
  const filters = isObject(call.body) && Array.isArray(call.body.dataFilters) ? call.body.dataFilters : []
  const found = new Map<string, { place: Place; filters: unknown[] }>()
  for (const filter of filters) {
    for (const place of placesOfFilter(spreadsheet, filter)) {
      const key = writeA1(place.sheet.title, place.area)
      const known = found.get(key)
      if (known) known.filters.push(filter)
      else found.set(key, { place, filters: [filter] })
    }
  }
  return [...found.values()]
}

function readData(call: SheetsCall): { filter: unknown; values: WrittenValues }[] {
  const data = isObject(call.body) && Array.isArray(call.body.data) ? call.body.data : []
  return data.map((entry: unknown, index) => ({
    filter: isObject(entry) ? entry.dataFilter : undefined,
    values: readValueRange(entry, `data[${index}]`),
  }))
}

function refuseOverrun({ sheet, area }: Place, values: WrittenValues): void {
  const tall = values.rows.length > area.endRow - area.startRow
  const wide = values.rows.some((row) => row.length > area.endColumn - area.startColumn)
  if (!tall && !wide) return
  throw invalidArgument(
    `The data filter matched range ${absolute(sheet.title, area)} whose ${tall ? 'rows' : 'columns'} cannot fit the data`,
  )
}

function absolute(title: string, area: Area): string {
  const corner = (row: number, column: number) => `$${columnLetters(column)}$${row + 1}`
  return `${quoteTitle(title)}!${corner(area.startRow, area.startColumn)}:${corner(area.endRow - 1, area.endColumn - 1)}`
}
