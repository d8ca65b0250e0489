import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs'
import { type FileHandle, link, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { kindOf, locateFile, parseFileLocation } from '../../providers/file/file-location.ts'
import type { Observe } from '../../reporting/observe.ts'
import { fileMode, folderMode } from '../../secrets/private-data.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import type { Decoding } from '../../sheets/reading/decoding.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import type { Store } from '../../store/store.ts'
import { Problem } from '../problem.ts'
import type { Connecting } from '../sheets/connecting.ts'
import { type Arrival, type ArrivalWish, accountGone, createArrivals } from './upload-arrivals.ts'
import { nameToKeep, notASheet } from './upload-name.ts'
import { type HeldFiles, isListed, type UploadRoom } from './upload-room.ts'
import { createWorkbookTabs } from './workbook-tabs.ts'

/** Files that owners bring. Each account has a folder of its own, and can name nothing outside of it. */
export interface Uploads {
  list(accountId: string): Promise<UploadedFile[]>
  save(accountId: string, name: string, bytes: Readable): Promise<UploadedFile | Problem>
  /**
   * Another file under the name of one that is there, and so for every sheet that is connected to it. It is read first, as
   * each of these sheets would, and then put into its place at once, or not at all. `broughtAs`: what it was called.
   */
  replace(
    accountId: string,
    name: string,
    broughtAs: string,
    bytes: Readable,
  ): Promise<UploadedFile | Problem>
  /** Its bytes as they are. Whoever gets the handle closes it. */
  open(accountId: string, name: string): Promise<OpenedFile | Problem>
  /** Not while a sheet is connected to it. */
  remove(accountId: string, name: string): Promise<Problem | null>
  locate(
    accountId: string,
    name: string,
    tab: string | null,
  ): Promise<{ location: string; source: string } | Problem>
  held(accountId: string): Promise<HeldFiles>
  removeAll(accountId: string): Promise<void>
}

export interface UploadedFile {
  name: string
  /** null for a file without tabs, and for one that could not be looked into. */
  tabs: string[] | null
  /** Why it could not; null where all is well. */
  problem: string | null
  bytes: number
  modifiedAtMs: number
  /** The slugs of those that are connected to it. */
  sheets: string[]
}

export interface OpenedFile {
  handle: FileHandle
  bytes: number
}

export interface UploadsParts {
  /** Of all accounts. */
  folder: string
  room: UploadRoom
  decoding: Decoding
  store: Pick<Store, 'sheetsOf' | 'countWrite'>
  connecting: Pick<Connecting, 'preview'>
  observe: Observe
}

export function createUploads({ folder, room, decoding, store, connecting, observe }: UploadsParts): Uploads {
  const tabs = createWorkbookTabs(decoding)
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
        const file = await described(accountId, join(own, name), name, sheets).catch(unlessMissing)
        if (file) files.push(file)
      }
      return files
    },
    async save(accountId, wanted, bytes) {
      const name = nameToKeep(wanted)
      if (name instanceof Problem) return name
      return arriving(accountId, name, bytes, { replacedLength: null }, async (draft, arrival) => {
        const problem = await problemWithWorkbook(accountId, draft)
        if (problem) return problem
        // Only now: while the body came, others may have taken the name.
        const kept = await claimName(draft, folderOf(accountId), name)
        arrival.keep()
        return described(accountId, join(folderOf(accountId), kept), kept, [])
      })
    },
    async replace(accountId, name, broughtAs, bytes) {
      const path = await pathOf(accountId, name)
      if (path instanceof Problem) return path
      const kind = kindOf(broughtAs)
      if (!kind) return notASheet
      if (kind !== kindOf(name)) return anotherKind
      const { size } = await stat(path)
      return arriving(accountId, name, bytes, { replacedLength: size }, async (draft, arrival) => {
        const sheets = await connectedTo(accountId, path)
        const problem =
          (await problemWithWorkbook(accountId, draft)) ?? (await problemForSheets(accountId, draft, sheets))
        if (problem) return problem
        const noRoom = putInPlace(draft, path, arrival)
        if (noRoom) return noRoom
        arrival.keep()
        await syncFolder(folderOf(accountId))
        // What was read before it is not served any more.
        await store.countWrite(locateFile(path, null).source)
        return described(accountId, path, name, sheets)
      })
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
    async remove(accountId, name) {
      const path = await pathOf(accountId, name)
      if (path instanceof Problem) return path
      const slugs = (await connectedTo(accountId, path)).map(({ slug }) => slug)
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
      return path instanceof Problem ? path : locateFile(path, tab)
    },
    held: (accountId) => room.of(accountId),
    removeAll(accountId) {
      arrivals.noteAccountGone(accountId)
      return removeFolder(folderOf(accountId))
    },
  }

  /** Of a file that is listed: what else a name could mean, it does not mean here. */
  async function pathOf(accountId: string, name: string): Promise<string | Problem> {
    const names: string[] = await readdir(folderOf(accountId)).catch(() => [])
    return isListed(name) && names.includes(name) ? join(folderOf(accountId), name) : noSuchFile
  }

  async function connectedTo(accountId: string, path: string): Promise<SheetRecord[]> {
    const { source } = locateFile(path, null)
    return (await store.sheetsOf(accountId)).filter((sheet) => sheet.source === source)
  }

  /** Brings the bytes into a draft, and leaves nothing of it unless `take` made a file of it. */
  async function arriving(
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
      return (await written(bytes, draft, arrival)) ?? (await take(draft, arrival))
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

  async function described(
    accountId: string,
    path: string,
    name: string,
    sheets: readonly SheetRecord[],
  ): Promise<UploadedFile> {
    const { size, mtimeMs } = await stat(path)
    const { source } = locateFile(path, null)
    const connected = sheets.filter((sheet) => sheet.source === source).map(({ slug }) => slug)
    const file = { name, bytes: size, modifiedAtMs: Math.round(mtimeMs), sheets: connected }
    if (kindOf(name) !== 'xlsx') return { ...file, tabs: null, problem: null }
    const found = await tabs.of(accountId, path)
    if ('tabs' in found) return { ...file, tabs: found.tabs, problem: null }
    return { ...file, tabs: null, problem: 'notNow' in found ? found.notNow : found.notAWorkbook }
  }

  /** Only what is certain: a workbook that cannot be looked into at the moment is kept. */
  async function problemWithWorkbook(accountId: string, path: string): Promise<Problem | null> {
    if (kindOf(path) !== 'xlsx') return null
    const found = await tabs.of(accountId, path)
    return 'notAWorkbook' in found ? new Problem(found.notAWorkbook, { kind: 'provider' }) : null
  }

  /** Read as each of the sheets will read it; without any, as one would. */
  async function problemForSheets(
    accountId: string,
    path: string,
    sheets: readonly SheetRecord[],
  ): Promise<Problem | null> {
    const byTab = Map.groupBy(sheets, ({ location }) => parseFileLocation(location).tab ?? null)
    if (byTab.size === 0) byTab.set(null, [])
    for (const [tab, users] of byTab) {
      const { location } = locateFile(path, tab)
      const seen = await connecting.preview('file', { accountId, location, credentialId: null })
      if (!(seen instanceof Problem)) continue
      const slugs = users.map(({ slug }) => slug)
      const whose = slugs.length === 0 ? '' : ` for ${listed(slugs)}`
      const message = `The file was not replaced, because the new one cannot be read${whose}: ${seen.message}`
      return new Problem(message, { ...seen.facts, field: 'file' })
    }
    return null
  }
}

/** In one breath, like any save by renaming: a write of ours that is being made ready finds another file, and looks again. */
function putInPlace(draft: string, path: string, arrival: Arrival): Problem | null {
  const former = statSync(path, { throwIfNoEntry: false })
  if (!former) return noSuchFile
  const problem = arrival.takePlaceOf(former.size)
  if (!problem) renameSync(draft, path)
  return problem
}

async function written(bytes: Readable, path: string, arrival: Arrival): Promise<Problem | null> {
  let isEmpty = true
  let problem: Problem | null = null
  await pipeline(
    bytes,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        problem = arrival.grow(chunk.length)
        if (problem) return
        isEmpty &&= chunk.length === 0
        yield chunk
      }
    },
    // On the disk before it takes the place of another: after a power cut one of the two must be there.
    createWriteStream(path, { flags: 'wx', mode: fileMode, flush: true }),
  ).catch((error: unknown) => {
    if (!problem) throw error
  })
  if (problem) return problem
  if (arrival.isAccountGone) return accountGone
  return isEmpty ? new Problem('The file is empty.', { field: 'file' }) : null
}

/** Puts the draft under the first free name of its folder. A link never replaces a file, as a rename would. */
async function claimName(draft: string, folder: string, name: string): Promise<string> {
  const end = extname(name)
  const start = name.slice(0, name.length - end.length)
  for (let copy = 1; ; copy++) {
    const candidate = copy === 1 ? name : `${start}-${copy}${end}`
    try {
      await linkOrReplaceOwn(draft, join(folder, candidate))
      return candidate
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error
    }
  }
}

/** Some disks know no links (exFAT). There an empty file takes the name, and only that one is replaced. */
async function linkOrReplaceOwn(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (isCode(error, 'EEXIST') || isCode(error, 'ENOENT')) throw error
    await (await open(to, 'wx', fileMode)).close()
    await rename(from, to)
  }
}

/** A name is on disk when its folder is. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r')
  await folder.sync()
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function unlessMissing(error: unknown): null {
  if (isCode(error, 'ENOENT')) return null
  throw error
}

/** Again when an upload put something into it meanwhile. */
function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3 })
}

function listed(slugs: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(slugs)
}

const noSuchFile = new Problem('There is no such file here. Upload it first.', { kind: 'not_found' })
const anotherKind = new Problem(
  'A CSV file can be replaced by a CSV file, and a workbook by a workbook. Upload this one as a file of its own.',
  { field: 'file' },
)

function stillConnected(slugs: readonly string[]): Problem {
  const [them, are] = slugs.length === 1 ? ['it', 'sheet is'] : ['them', 'sheets are']
  return new Problem(
    `${slugs.length === 1 ? 'This' : 'These'} ${are} connected to the file: ${listed(slugs)}. Disconnect ${them} first.`,
    { kind: 'taken' },
  )
}
