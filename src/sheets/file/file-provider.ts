import type { Observe } from '../../observe.ts'
import type { Change } from '../change.ts'
import type { Decoder, FetchWish, Prepared, Provider } from '../provider.ts'
import { ProviderFailure } from '../provider-failure.ts'
import { idleTimers, systemTimers } from '../timers.ts'
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
import { rememberWhole } from './file-signs.ts'
import { stampIn } from './file-version.ts'
import { type ReadFile, readFile, readIfVersion } from './read-file.ts'
import { createReplacedFiles } from './replaced-files.ts'
import { createSettling } from './settling.ts'

export interface FileProviderParts {
  observe: Observe
  editing?: Editing
}

/** Spreadsheets in local files, served in place: others may edit them at any time. */
export function createFileProvider({ observe, editing = createEditing() }: FileProviderParts): Provider {
  const cleaned = new Set<string>()
  const settling = createSettling()
  const replaced = createReplacedFiles(observe)

  return {
    async fetch({ location }, { values, knownVersion }) {
      const place = locate(location)
      const decoder = decoderFor(place, values)
      const read = await failing('read', () => readWhole(place.path, knownVersion))
      return read === 'unchanged' ? read : { ...read, decoder }
    },

    /** Only of a CSV file: to find one row in a workbook, all of it is unpacked. */
    async fetchHeader({ location }) {
      const { path } = locate(location)
      if (kindOf(path) !== 'csv') return null
      const read = await failing('read', () => readWhole(path, null))
      if (read === 'unchanged') throw new Error('Nothing was known that could be unchanged')
      const decoder = { module: moduleAt('./csv-header.ts'), name: 'decodeCsvHeader', options: {} }
      return { ...read, decoder }
    },

    /** Whoever comes while another program writes the file goes along with those who wait for it to be done. */
    async untilTurn({ location }) {
      // What goes wrong here goes wrong again when the write is made ready, and is told there.
      await settling.untilWritable(parseFileLocation(location).path, idleTimers, true).catch(() => {})
    },

    async prepare({ location }, changes, version) {
      const place = locate(location)
      const { path } = place
      const editor = editorFor(place, changes)
      const read = await failing('read', async () => {
        const stamp = await settling.untilWritable(path, idleTimers)
        const found = await readIfVersion(path, version)
        return found?.stamp === stamp ? found : null
      })
      if (!read) return 'conflict'
      const edited = await editing.edit(read.bytes, editor)
      if ('changeAt' in edited) return edited
      return failing('write', async (): Promise<Prepared> => {
        if (!cleaned.has(path)) await removeAbandoned(path, Date.now())
        cleaned.add(path)
        const { fence, identity } = await writeReplacement(path, edited.bytes)
        const { results } = edited
        const whole = rememberWhole(edited.bytes)
        return {
          fence,
          expected: results,
          isExact: true,
          commit: () =>
            failing('write', async () => {
              if (!(await putInPlace(path, fence, version, replaced))) return { outcome: 'conflict' }
              settling.noteOwn(path, { identity, whole })
              return { outcome: 'applied', results }
            }),
          discard: () => removeReplacement(path, fence),
        }
      })
    },

    async settle({ location }, fence) {
      const { path } = locate(location)
      return failing('write', async () => ((await wasPutInPlace(path, fence)) ? 'applied' : 'void'))
    },
  }

  async function readWhole(path: string, knownVersion: string | null): Promise<ReadFile | 'unchanged'> {
    for (;;) {
      const stamp = await settling.untilReadable(path, systemTimers)
      const read = await readFile(path, knownVersion)
      if (read === 'unchanged') return read
      if (stampIn(read.version) !== stamp) continue
      settling.noteRead(path, rememberWhole(read.bytes))
      return read
    }
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
