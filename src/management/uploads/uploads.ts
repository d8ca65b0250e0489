import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rm, stat, unlink } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { kindOf } from '../../providers/file/file-location.ts'
import type { Observe } from '../../reporting/observe.ts'
import { folderMode } from '../../secrets/private-data.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import type { Decoding } from '../../sheets/reading/decoding.ts'
import type { Writing } from '../../sheets/writing/writing.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import type { Store } from '../../store/store.ts'
import { Problem } from '../problem.ts'
import type { Connecting } from '../sheets/connecting.ts'
import { locateInAccount, sheetsAt } from './file-source.ts'
import { type FileMove, moveFile, tooBusy } from './move-file.ts'
import { type Arrival, type ArrivalWish, accountGone, createArrivals } from './upload-arrivals.ts'
import {
  claimName,
  isCode,
  noSuchFile,
  putInPlace,
  removeFolder,
  syncFolder,
  unlessMissing,
  writeDraft,
} from './upload-files.ts'
import { createUploadInspection, listSlugs, type UploadedFile } from './upload-inspection.ts'
import { nameToKeep, newNameOf, notASheet } from './upload-name.ts'
import { type HeldFiles, isListed, type UploadRoom } from './upload-room.ts'

/** Files that owners bring. Each account has a folder of its own, and can name nothing outside of it. */
export interface Uploads {
  list(accountId: string): Promise<UploadedFile[]>
  save(accountId: string, name: string, bytes: Readable): Promise<UploadedFile | Problem>
  /**
   * Puts another file under the name of one that is there, and so for every sheet that is connected to it. It is read first, as
   * each of these sheets would, and then put into its place at once, or not at all. `broughtAs`: what it was called.
   */
  replace(
    accountId: string,
    name: string,
    broughtAs: string,
    bytes: Readable,
  ): Promise<UploadedFile | Problem>
  /** Sheets that are connected to it stay so, with all that is known of them. A problem where the name is taken. */
  rename(accountId: string, name: string, wanted: string, lanes: Lanes): Promise<UploadedFile | Problem>
  /** Opens the file's bytes as they are. Whoever gets the handle closes it. */
  open(accountId: string, name: string): Promise<OpenedFile | Problem>
  /** A problem while a sheet is connected to it. */
  remove(accountId: string, name: string): Promise<Problem | null>
  locate(
    accountId: string,
    name: string,
    tab: string | null,
  ): Promise<{ location: string; source: string } | Problem>
  /** Whether what a sheet is read from is the account's own to bring again; null where it is not. */
  standingOf(accountId: string, path: string | null): UploadStanding | null
  held(accountId: string): Promise<HeldFiles>
  removeAll(accountId: string): Promise<void>
}

export type UploadStanding = 'there' | 'missing'

/** Where the writes to a file take their turns. */
export type Lanes = Pick<Writing, 'whileNobodyWrites'>

export interface OpenedFile {
  handle: FileHandle
  bytes: number
}

export interface UploadsParts {
  /** The folder with those of all accounts. */
  folder: string
  room: UploadRoom
  decoding: Decoding
  store: Pick<Store, 'sheetsOf' | 'sheetsOfSource' | 'relocateSheets' | 'countWrite'>
  connecting: Pick<Connecting, 'preview'>
  observe: Observe
}

export function createUploads({ folder, room, decoding, store, connecting, observe }: UploadsParts): Uploads {
  const inspection = createUploadInspection(decoding, connecting)
  const arrivals = createArrivals(room, observe)
  const folderOf = (accountId: string) => join(folder, accountId)

  return {
    async list(accountId) {
      const own = folderOf(accountId)
      const names = await readdir(own).catch(() => [])
      const sheets = await store.sheetsOf(accountId)
      const files: UploadedFile[] = []
      for (const name of names.filter(isListed).sort()) {
        // It may go while the others are looked at.
        const file = await inspection.describe(accountId, join(own, name), name, sheets).catch(unlessMissing)
        if (file) files.push(file)
      }
      return files
    },
    async save(accountId, wanted, bytes) {
      const name = nameToKeep(wanted)
      if (name instanceof Problem) return name
      return bringIntoDraft(accountId, name, bytes, { replacedLength: null }, async (draft, arrival) => {
        const problem = await inspection.problemWithWorkbook(accountId, draft)
        if (problem) return problem
        // Only now: while the body came, others may have taken the name.
        const kept = await claimName(draft, folderOf(accountId), name)
        arrival.keep()
        return inspection.describe(accountId, join(folderOf(accountId), kept), kept, [])
      })
    },
    async replace(accountId, name, broughtAs, bytes) {
      const path = await pathOf(accountId, name)
      if (path instanceof Problem) return path
      const kind = kindOf(broughtAs)
      if (!kind) return notASheet
      if (kind !== kindOf(name)) return anotherKind
      const { size } = await stat(path)
      return bringIntoDraft(accountId, name, bytes, { replacedLength: size }, async (draft, arrival) => {
        const { source } = await locateInAccount(store, accountId, path, null)
        const sheets = await findSheetsOfFile(accountId, path)
        const problem =
          (await inspection.problemWithWorkbook(accountId, draft)) ??
          (await inspection.problemForSheets(accountId, draft, sheets))
        if (problem) return problem
        const noRoom = putInPlace(draft, path, arrival)
        if (noRoom) return noRoom
        arrival.keep()
        await syncFolder(folderOf(accountId))
        // What was read before it is not served any more.
        await store.countWrite(source)
        return inspection.describe(accountId, path, name, sheets)
      })
    },
    async rename(accountId, name, wanted, lanes) {
      const from = await pathOf(accountId, name)
      if (from instanceof Problem) return from
      const to = newNameOf(name, wanted)
      if (to instanceof Problem) return to
      const path = join(folderOf(accountId), to)
      try {
        const problem = to === name ? null : await moveInTurn({ accountId, from, to: path }, lanes)
        return problem ?? (await inspection.describe(accountId, path, to, await store.sheetsOf(accountId)))
      } catch (error) {
        return unlessMissing(error) ?? noSuchFile
      }
    },
    async open(accountId, name) {
      const path = await pathOf(accountId, name)
      if (path instanceof Problem) return path
      try {
        const handle = await open(path)
        return { handle, bytes: (await handle.stat()).size }
      } catch (error) {
        return unlessMissing(error) ?? noSuchFile
      }
    },
    standingOf(accountId, path) {
      if (path === null || dirname(path) !== folderOf(accountId)) return null
      return existsSync(path) ? 'there' : 'missing'
    },
    async remove(accountId, name) {
      const path = await pathOf(accountId, name)
      if (path instanceof Problem) return path
      const slugs = (await findSheetsOfFile(accountId, path)).map(({ slug }) => slug)
      if (slugs.length > 0) return stillConnected(slugs)
      try {
        await arrivals.leaving(accountId, async () => {
          const { size } = await stat(path)
          await unlink(path)
          return size
        })
        return null
      } catch (error) {
        return unlessMissing(error) ?? noSuchFile
      }
    },
    async locate(accountId, name, tab) {
      const path = await pathOf(accountId, name)
      return path instanceof Problem ? path : locateInAccount(store, accountId, path, tab)
    },
    held: (accountId) => room.of(accountId),
    removeAll(accountId) {
      arrivals.noteAccountGone(accountId)
      return removeFolder(folderOf(accountId))
    },
  }

  /** The path of a file that is listed: what else a name could mean, it does not mean here. */
  async function pathOf(accountId: string, name: string): Promise<string | Problem> {
    const names: string[] = await readdir(folderOf(accountId)).catch(() => [])
    return isListed(name) && names.includes(name) ? join(folderOf(accountId), name) : noSuchFile
  }

  async function moveInTurn(move: Omit<FileMove, 'source'>, lanes: Lanes): Promise<Problem | null> {
    const { source } = await locateInAccount(store, move.accountId, move.from, null)
    const moved = await lanes.whileNobodyWrites(source, 'file', () => moveFile(store, { ...move, source }))
    return moved === 'busy' ? tooBusy : moved
  }

  async function findSheetsOfFile(accountId: string, path: string): Promise<SheetRecord[]> {
    return sheetsAt(path, await store.sheetsOf(accountId))
  }

  /** Brings the bytes into a draft, and leaves nothing of it unless `take` made a file of it. */
  async function bringIntoDraft(
    accountId: string,
    name: string,
    bytes: Readable,
    wish: ArrivalWish,
    take: (draft: string, arrival: Arrival) => Promise<UploadedFile | Problem>,
  ): Promise<UploadedFile | Problem> {
    const arrival = await arrivals.enter(accountId, wish)
    if (arrival instanceof Problem) return arrival
    const own = folderOf(accountId)
    // Its ending says how it is to be read.
    const draft = join(own, `.${randomBase62(12)}.part${extname(name)}`)
    try {
      await mkdir(own, { recursive: true, mode: folderMode })
      return (await writeDraft(bytes, draft, arrival)) ?? (await take(draft, arrival))
    } catch (error) {
      if (isCode(error, 'ENOENT') && (arrival.isAccountGone || !existsSync(own))) return accountGone
      throw error
    } finally {
      await rm(draft, { force: true })
      // What was made while the folder was being removed.
      if (arrival.isAccountGone) await removeFolder(own)
      arrival.leave()
    }
  }
}

const anotherKind = new Problem(
  'Replace a CSV file with a CSV file and a workbook with a workbook, or upload this one as a new file.',
  { field: 'file' },
)

function stillConnected(slugs: readonly string[]): Problem {
  const [them, are] = slugs.length === 1 ? ['it', 'sheet is'] : ['them', 'sheets are']
  return new Problem(
    `${slugs.length === 1 ? 'This' : 'These'} ${are} connected to the file: ${listSlugs(slugs)}. Disconnect ${them} first.`,
    { kind: 'taken' },
  )
}
