import { writeA1 } from '../a1.ts'
import type { RenderOptions } from '../cells/cell-display.ts'
import { readDimension, readInputOption, readValueRange } from '../cells/value-input.ts'
import { inContext } from '../google-error.ts'
import { isObject } from '../model.ts'
import { resolveA1 } from '../resolve-range.ts'
import type { SheetsCall, SheetsMethod } from '../sheets-method.ts'
import { appendValues } from './append-values.ts'
import { filterValuesMethods } from './filter-values-methods.ts'
import { readValues } from './read-values.ts'
import { readEcho, readRender } from './render-options.ts'
import { clearArea, totalsOf, updateAnswer, writeWithin } from './write-values.ts'

export const valuesMethods: Record<string, SheetsMethod> = {
  ...filterValuesMethods,

  'values.get': {
    writes: false,
    repeatable: true,
    checkBody: readOptions,
    run(spreadsheet, call) {
      const { dimension, render } = readOptions(call)
      return readValues(spreadsheet, resolveA1(spreadsheet, call.target), dimension, render)
    },
  },

  'values.batchGet': {
    writes: false,
    repeatable: true,
    checkBody: readOptions,
    run(spreadsheet, call) {
      const { dimension, render } = readOptions(call)
      const places = call.query.getAll('ranges').map((range) => resolveA1(spreadsheet, range))
      const valueRanges = places.map((place) => readValues(spreadsheet, place, dimension, render))
      return { spreadsheetId: spreadsheet.spreadsheetId, ...(valueRanges.length > 0 && { valueRanges }) }
    },
  },

  'values.update': {
    writes: true,
    checkBody: (call) => void readValueRange(call.body),
    run(draft, call) {
      const how = { input: readInputOption(call.query.get('valueInputOption')), editor: call.user }
      const values = readValueRange(call.body)
      const written = writeWithin(draft, resolveA1(draft, call.target), values, how)
      return updateAnswer(draft, written, values, readEcho(Object.fromEntries(call.query)))
    },
  },

  'values.append': {
    writes: true,
    checkBody: (call) => void readValueRange(call.body),
    run(draft, call) {
      return appendValues(draft, resolveA1(draft, call.target), readValueRange(call.body), {
        how: { input: readInputOption(call.query.get('valueInputOption')), editor: call.user },
        insertRows: call.query.get('insertDataOption') === 'INSERT_ROWS',
        echo: readEcho(Object.fromEntries(call.query)),
      })
    },
  },

  'values.clear': {
    writes: true,
    run(draft, call) {
      const place = resolveA1(draft, call.target)
      clearArea(draft, place, call.user)
      return { spreadsheetId: draft.spreadsheetId, clearedRange: writeA1(place.sheet.title, place.area) }
    },
  },

  'values.batchClear': {
    writes: true,
    run(draft, call) {
      const ranges = isObject(call.body) && Array.isArray(call.body.ranges) ? call.body.ranges : []
      const places = ranges.map((range) => resolveA1(draft, String(range)))
      for (const place of places) clearArea(draft, place, call.user)
      const clearedRanges = places.map((place) => writeA1(place.sheet.title, place.area))
      return { spreadsheetId: draft.spreadsheetId, ...(clearedRanges.length > 0 && { clearedRanges }) }
    },
  },

  'values.batchUpdate': {
    writes: true,
    checkBody: (call) => void readData(call),
    run(draft, call) {
      const body = isObject(call.body) ? call.body : {}
      const how = { input: readInputOption(body.valueInputOption), editor: call.user }
      const all = readData(call).map((values, index) => {
        try {
          return { values, written: writeWithin(draft, resolveA1(draft, values.range ?? ''), values, how) }
        } catch (error) {
          throw inContext(`Invalid data[${index}]`, error)
        }
      })
      const echo = readEcho(body)
      return {
        spreadsheetId: draft.spreadsheetId,
        ...totalsOf(all.map(({ written }) => written)),
        ...(all.length > 0 && {
          responses: all.map(({ values, written }) => updateAnswer(draft, written, values, echo)),
        }),
      }
    },
  },
}

function readData(call: SheetsCall): ReturnType<typeof readValueRange>[] {
  const data = isObject(call.body) ? call.body.data : undefined
  const list = Array.isArray(data) ? data : data === undefined ? [] : [data]
  return list.map((entry, index) => readValueRange(entry, `data[${index}]`))
}

function readOptions(call: SheetsCall): {
  dimension: ReturnType<typeof readDimension>
  render: RenderOptions
} {
  return {
    dimension: readDimension(call.query.get('majorDimension')),
    render: readRender(call.query.get('valueRenderOption'), call.query.get('dateTimeRenderOption')),
  }
}
