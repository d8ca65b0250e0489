import type { Change } from '../change.ts'
import type { Decoder, FetchWish, Prepared, Provider } from '../provider.ts'
import { ProviderFailure } from '../provider-failure.ts'
import { createEditing, type Editing, type Editor } from './editing.ts'
import { asProviderFailure } from './file-failure.ts'
import { type FileLocation, kindOf, parseFileLocation } from './file-location.ts'
import {
  putInPlace,
  removeAbandoned,
  removeReplacement,
  wasPutInPlace,
  writeReplacement,
} from './file-replacement.ts'
import { readFile, readIfVersion } from './read-file.ts'

/** Spreadsheets in local files, served in place: others may edit them at any time. */
export function createFileProvider(editing: Editing = createEditing()): Provider {
  const cleaned = new Set<string>()

  return {
    async fetch({ location }, { values, knownVersion }) {
      const place = locate(location)
      const decoder = decoderFor(place, values)
      const read = await failing('read', () => readFile(place.path, knownVersion))
      return read === 'unchanged' ? read : { ...read, decoder }
    },

    /** Only of a CSV file: to find one row in a workbook, all of it is unpacked. */
    async fetchHeader({ location }) {
      const { path } = locate(location)
      if (kindOf(path) !== 'csv') return null
      const read = await failing('read', () => readFile(path, null))
      if (read === 'unchanged') throw new Error('Nothing was known that could be unchanged')
      const decoder = { module: moduleAt('./csv-header.ts'), name: 'decodeCsvHeader', options: {} }
      return { ...read, decoder }
    },

    async prepare({ location }, changes, version) {
      const place = locate(location)
      const { path } = place
      const editor = editorFor(place, changes)
      const read = await failing('read', () => readIfVersion(path, version))
      if (!read) return 'conflict'
      const edited = await editing.edit(read.bytes, editor)
      if ('changeAt' in edited) return edited
      return failing('write', async (): Promise<Prepared> => {
        if (!cleaned.has(path)) await removeAbandoned(path, Date.now())
        cleaned.add(path)
        const fence = await writeReplacement(path, edited.bytes)
        const { results } = edited
        return {
          fence,
          expected: results,
          isExact: true,
          commit: () =>
            failing('write', async () =>
              (await putInPlace(path, fence, version))
                ? { outcome: 'applied', results }
                : { outcome: 'conflict' },
            ),
          discard: () => removeReplacement(path, fence),
        }
      })
    },

    async settle({ location }, fence) {
      const { path } = locate(location)
      return failing('write', async () => ((await wasPutInPlace(path, fence)) ? 'applied' : 'void'))
    },
  }
}

function decoderFor({ path, tab }: FileLocation, values: FetchWish['values']): Decoder {
  return kindOf(path) === 'xlsx'
    ? { module: moduleAt('./xlsx/xlsx.ts'), name: 'decodeXlsx', options: { values, ...(tab && { tab }) } }
    : { module: moduleAt('./csv/csv.ts'), name: 'decodeCsv', options: { values } }
}

function editorFor({ path, tab }: FileLocation, changes: readonly Change[]): Editor {
  return kindOf(path) === 'xlsx'
    ? { module: moduleAt('./xlsx/edit.ts'), name: 'editXlsx', more: [tab, changes] }
    : { module: moduleAt('./csv/edit.ts'), name: 'editCsv', more: [changes] }
}

function moduleAt(path: string): string {
  return new URL(path, import.meta.url).href
}

function locate(location: string): FileLocation {
  const place = parseFileLocation(location)
  if (kindOf(place.path)) return place
  throw new ProviderFailure('the file is neither a CSV file nor an Excel workbook (.csv, .tsv, .xlsx)')
}

async function failing<T>(action: 'read' | 'write', work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asProviderFailure(error, action)
  }
}
