import type { Change, ChangeResult, Unfit } from '../../sheets/change.ts'
import type { Decoder, FetchWish, Provider, ReadingTurn } from '../../sheets/provider.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import { idleTimers, systemTimers } from '../../timers.ts'
import { appendToCsv, areFewAdditions } from './csv/append.ts'
import { createEditing, type Edit, type Editing, type EditingParts, type ThreadEditor } from './editing.ts'
import { asProviderFailure } from './file-failure.ts'
import { type FileLocation, kindOf, parseFileLocation } from './file-location.ts'
import {
  type NewContent,
  putInPlace,
  type Replacement,
  removeAbandoned,
  removeReplacement,
  wasPutInPlace,
  writeReplacement,
} from './file-replacement.ts'
import { rememberWhole, type WholeFile } from './file-signs.ts'
import { bytesIn, stampIn, stampThatSuffices } from './file-version.ts'
import { createKnownFiles, type KnownFile } from './known-files.ts'
import type { IsPrivate } from './open-file.ts'
import { type ReadFile, readFile, readIfVersion } from './read-file.ts'
import { createReplacedFiles } from './replaced-files.ts'
import { createSettling } from './settling.ts'

export interface FileProviderParts extends EditingParts {
  editing?: Editing
  /** Why a file may not become as long as this, in words for its owner; null when it may. */
  problemWithLength?(path: string, bytes: number): Promise<string | null>
  isPrivate?: IsPrivate
}

interface MadeReplacement extends Replacement {
  whole: WholeFile
  results: ChangeResult[]
  known: KnownFile | null
}

/** Spreadsheets in local files, served in place: others may edit them at any time. */
export function createFileProvider({
  editing,
  problemWithLength,
  isPrivate,
  ...parts
}: FileProviderParts): Provider {
  const { observe } = parts
  const { inTurn } = editing ?? createEditing(parts)
  const cleaned = new Set<string>()
  const settling = createSettling()
  const replaced = createReplacedFiles(observe)
  const knownFiles = createKnownFiles()

  return {
    async fetch({ location }, { values, knownVersion }, turn) {
      const place = locate(location)
      const decoder = decoderFor(place, values)
      const read = await failing('read', () => readWhole(place.path, knownVersion, turn))
      return read === 'unchanged' ? read : { ...read, decoder }
    },

    /** Only of a CSV file: to find one row in a workbook, all of it is unpacked. */
    async fetchHeader({ location }, turn) {
      const { path, encoding } = locate(location)
      if (kindOf(path) !== 'csv') return null
      const read = await failing('read', () => readWhole(path, null, turn))
      if (read === 'unchanged') throw new Error('Nothing was known that could be unchanged')
      const decoder = {
        module: new URL('./csv-header.ts', import.meta.url).href,
        name: 'decodeCsvHeader',
        options: { encoding },
      }
      return { ...read, decoder }
    },

    async knownHeader({ location }) {
      if (!knownFiles.has(location)) return null
      const { path } = parseFileLocation(location)
      const version = await failing('read', () => settling.untilReadable(path, systemTimers))
      const known = knownFiles.find(location, version)
      return known && { version, header: known.header }
    },

    /** Whoever comes while another program writes the file goes along with those who wait for it to be done. */
    async untilTurn({ location }) {
      // What goes wrong here goes wrong again when the write is made ready, and is told there.
      await settling.untilWritable(parseFileLocation(location).path, idleTimers, true).catch(() => {})
    },

    async prepare({ accountId, location }, changes, version) {
      const place = locate(location)
      const { path } = place
      if (kindOf(path) === 'ods') return readOnly
      const made =
        (await makeByAppending(location, changes, version)) ??
        (await makeByEditing(accountId, place, changes, version))
      if (made === 'conflict' || 'changeAt' in made) return made
      const { fence, identity, whole, results, known } = made
      let isInPlace = false
      return {
        fence,
        expected: results,
        isExact: true,
        commit: () =>
          failing('write', async () => {
            if (!(await putInPlace(path, fence, version, replaced))) return { outcome: 'conflict' }
            isInPlace = true
            settling.noteOwn(path, { identity, whole })
            knownFiles.note(location, identity, known)
            return { outcome: 'applied', results }
          }),
        discard: async () => {
          if (!isInPlace) await removeReplacement(path, fence)
        },
      }
    },

    async settle({ location }, fence) {
      const { path } = locate(location)
      return failing('write', async () => ((await wasPutInPlace(path, fence)) ? 'applied' : 'void'))
    },
  }

  async function makeByEditing(
    accountId: string,
    place: FileLocation,
    changes: readonly Change[],
    version: string,
  ): Promise<MadeReplacement | 'conflict' | Unfit> {
    const stamp = await failing('read', () => settling.untilWritable(place.path, idleTimers))
    return inTurn(accountId, bytesIn(stamp), (edit) =>
      makeReplacement(place, changes, { version, stamp }, edit),
    )
  }

  /** Beside the file, if that still is what `version` and `stamp` say. Of its bytes nothing is held when it returns. */
  async function makeReplacement(
    place: FileLocation,
    changes: readonly Change[],
    { version, stamp }: { version: string; stamp: string },
    edit: Edit,
  ): Promise<MadeReplacement | 'conflict' | Unfit> {
    const { path } = place
    const read = await failing('read', () => readIfVersion(path, version, isPrivate))
    if (read?.stamp !== stamp) return 'conflict'
    const edited = await edit(read.bytes, editorFor(place), changes)
    if ('changeAt' in edited) return edited
    const { bytes, results, known = null } = edited
    const whole = rememberWhole(bytes)
    return failing('write', () => writeBeside(path, { bytes }, { whole, results, known }))
  }

  /**
   * Rows behind the last byte, where the version is of a file as we put it: what it holds is copied, if it still is that one, and neither
   * decoded nor held in memory. null where it takes more.
   */
  async function makeByAppending(
    location: string,
    changes: readonly Change[],
    version: string,
  ): Promise<MadeReplacement | 'conflict' | Unfit | null> {
    const stamp = stampThatSuffices(version)
    const end = stamp === null ? null : knownFiles.find(location, stamp)?.end
    if (stamp === null || !end || !areFewAdditions(changes)) return null
    const appended = appendToCsv(end, changes)
    if ('changeAt' in appended) return appended
    const { bytes, results, known = null } = appended
    const whole = rememberWhole(bytes, bytesIn(stamp) + bytes.byteLength)
    const { path } = parseFileLocation(location)
    return failing('write', () => writeBeside(path, { bytes, behind: stamp }, { whole, results, known }))
  }

  async function writeBeside(
    path: string,
    content: NewContent,
    made: Pick<MadeReplacement, 'whole' | 'results' | 'known'>,
  ): Promise<MadeReplacement | 'conflict'> {
    const noRoom = await problemWithLength?.(path, made.whole.size)
    if (noRoom) throw new ProviderFailure(noRoom)
    if (!cleaned.has(path)) await removeAbandoned(path, Date.now())
    cleaned.add(path)
    const written = await writeReplacement(path, content)
    return written === 'conflict' ? written : { ...written, ...made }
  }

  async function readWhole(
    path: string,
    knownVersion: string | null,
    turn?: ReadingTurn,
  ): Promise<ReadFile | 'unchanged'> {
    for (;;) {
      const stamp = await settling.untilReadable(path, systemTimers)
      // Nothing is read then, so there is nothing to wait for.
      if (stamp === knownVersion) return 'unchanged'
      await turn?.begin(bytesIn(stamp))
      const read = await readFile(path, knownVersion, isPrivate)
      if (read === 'unchanged') return read
      if (stampIn(read.version) === stamp) {
        settling.noteRead(path, rememberWhole(read.bytes))
        return read
      }
      // Another program may be writing it, and others need not wait for that.
      turn?.end()
    }
  }
}

/** Changing one to the byte, as with workbooks, would be an editor of its own. */
const readOnly: Unfit = {
  changeAt: 0,
  reason: 'read_only',
  details: 'OpenDocument spreadsheets (.ods) are read, not written to. Save it as .xlsx to write to it.',
}

function decoderFor({ path, tab, encoding }: FileLocation, values: FetchWish['values']): Decoder {
  const options = { values, ...(tab && { tab }) }
  const kind = kindOf(path)
  if (kind === 'ods')
    return { module: new URL('./ods/ods.ts', import.meta.url).href, name: 'decodeOds', options }
  return kind === 'xlsx'
    ? { module: new URL('./xlsx/read/xlsx.ts', import.meta.url).href, name: 'decodeXlsx', options }
    : {
        module: new URL('./csv/csv.ts', import.meta.url).href,
        name: 'decodeCsv',
        options: { values, encoding },
      }
}

function editorFor({ path, tab, encoding }: FileLocation): ThreadEditor {
  return kindOf(path) === 'xlsx'
    ? {
        module: new URL('./xlsx/edit/edit.ts', import.meta.url).href,
        name: 'editXlsx',
        more: [tab],
        changesAt: 1,
      }
    : {
        module: new URL('./csv/edit.ts', import.meta.url).href,
        name: 'editCsv',
        more: [encoding],
        changesAt: 0,
      }
}

function locate(location: string): FileLocation {
  const place = parseFileLocation(location)
  if (kindOf(place.path)) return place
  throw new ProviderFailure('the file is neither a CSV file nor a workbook (.csv, .tsv, .xlsx, .ods)')
}

async function failing<T>(action: 'read' | 'write', work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asProviderFailure(error, action)
  }
}
