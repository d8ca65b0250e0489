import { createWriteStream, existsSync } from 'node:fs'
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { randomBase62 } from '../random-base62.ts'
import type { Decoding } from '../sheets/decoding.ts'
import { kindOf, locateFile } from '../sheets/file/file-location.ts'
import { orProblem } from './connecting.ts'
import { Problem } from './problem.ts'

/** Files that owners bring. Each account has a folder of its own, and can name nothing outside of it. */
export interface Uploads {
  list(accountId: string): Promise<UploadedFile[]>
  save(accountId: string, name: string, bytes: Readable): Promise<UploadedFile | Problem>
  locate(
    accountId: string,
    name: string,
    tab: string | null,
  ): Promise<{ location: string; source: string } | Problem>
  removeAll(accountId: string): Promise<void>
}

export interface UploadedFile {
  name: string
  /** null for a file without tabs. */
  tabs: string[] | null
  bytes: number
}

const mebibyte = 1024 * 1024
export const maxUploadBytes = 50 * mebibyte
const maxAccountBytes = 500 * mebibyte
const maxNameCharacters = 100
const maxUploadsAtATime = 4

/** The uploads of one account that run side by side, from the first to the last of them. */
interface Arrivals {
  running: number
  /** Looked up once, by the first: what the others bring is counted in `arrivedBytes`, ended or not. */
  heldBytes: Promise<number>
  arrivedBytes: number
  isAccountGone: boolean
}

/** `folder`: of all accounts. */
export function createUploads(folder: string, decoding: Decoding): Uploads {
  const knownTabs = new Map<string, string[]>()
  const arriving = new Map<string, Arrivals>()
  const folderOf = (accountId: string) => join(folder, accountId)

  return {
    list,
    async save(accountId, wanted, bytes) {
      const name = safeName(wanted)
      if (name === null || !kindOf(name)) return notASheet
      const arrivals = arrivalsOf(accountId)
      if (arrivals.running >= maxUploadsAtATime) return tooManyAtATime
      arrivals.running++
      try {
        return await saveAmong(arrivals, accountId, name, bytes)
      } finally {
        arrivals.running--
        if (arrivals.running === 0) arriving.delete(accountId)
      }
    },
    async locate(accountId, name, tab) {
      const isThere = (await list(accountId)).some((file) => file.name === name)
      if (!isThere) return new Problem('There is no such file here. Upload it first.', { kind: 'not_found' })
      return locateFile(join(folderOf(accountId), name), tab)
    },
    removeAll(accountId) {
      const arrivals = arriving.get(accountId)
      if (arrivals) arrivals.isAccountGone = true
      return removeFolder(folderOf(accountId))
    },
  }

  function arrivalsOf(accountId: string): Arrivals {
    const running = arriving.get(accountId)
    if (running) return running
    const heldBytes = list(accountId).then((held) => held.reduce((sum, file) => sum + file.bytes, 0))
    // Each upload awaits it, and hears of a failure, only when its folder is there.
    heldBytes.catch(() => {})
    const arrivals = { running: 0, heldBytes, arrivedBytes: 0, isAccountGone: false }
    arriving.set(accountId, arrivals)
    return arrivals
  }

  async function saveAmong(arrivals: Arrivals, accountId: string, name: string, bytes: Readable) {
    const own = folderOf(accountId)
    const draft = join(own, `.${randomBase62(12)}.part`)
    try {
      await mkdir(own, { recursive: true })
      const problem = await written(bytes, draft, arrivals, await arrivals.heldBytes)
      if (problem) return problem
      // Only now: while the body came, others may have taken the name.
      const claim = await claimed(draft, own, name)
      return await described(accountId, claim).catch(async (error: unknown) => {
        // Whoever hears that it failed, or that too much is under way, sends it again.
        await rm(join(own, claim), { force: true })
        throw error
      })
    } catch (error) {
      if (isCode(error, 'ENOENT') && (arrivals.isAccountGone || !existsSync(own))) return accountGone
      throw error
    } finally {
      await rm(draft, { force: true })
      // What was made while the folder was being removed.
      if (arrivals.isAccountGone) await removeFolder(own)
    }
  }

  async function list(accountId: string): Promise<UploadedFile[]> {
    const names = await readdir(folderOf(accountId)).catch(() => [])
    const files: UploadedFile[] = []
    for (const name of names.filter((one) => !one.startsWith('.') && kindOf(one)).sort()) {
      const file = await described(accountId, name)
      if (!(file instanceof Problem)) files.push(file)
    }
    return files
  }

  async function described(accountId: string, name: string): Promise<UploadedFile | Problem> {
    const path = join(folderOf(accountId), name)
    const { size, mtimeMs } = await stat(path)
    if (kindOf(name) !== 'xlsx') return { name, tabs: null, bytes: size }
    const version = `${path} ${size} ${mtimeMs}`
    const tabs = knownTabs.get(version) ?? (await orProblem(() => tabsOf(accountId, path)))
    if (tabs instanceof Problem) {
      // What cannot be opened now never will be: it is not kept.
      await rm(path, { force: true })
      return tabs
    }
    knownTabs.set(version, tabs)
    return { name, tabs, bytes: size }
  }

  async function tabsOf(accountId: string, path: string): Promise<string[]> {
    const module = new URL('./uploaded-tabs.ts', import.meta.url).href
    const decoder = { module, name: 'decodeTabNames', options: {} }
    const { snapshot } = await decoding.decode(accountId, async (turn) => {
      await turn.begin()
      return { bytes: await readFile(path), version: '', decoder }
    })
    const rows = JSON.parse(Buffer.from(snapshot.listJson).toString()) as { tab: unknown }[]
    return rows.map(({ tab }) => String(tab))
  }
}

/** What is refused or breaks off leaves its room to the others at once. */
async function written(
  bytes: Readable,
  path: string,
  arrivals: Arrivals,
  heldBytes: number,
): Promise<Problem | null> {
  let length = 0
  let problem: Problem | null = null
  const problemWith = (chunk: Buffer) => {
    if (arrivals.isAccountGone) return accountGone
    if (length + chunk.length > maxUploadBytes) return fileTooLong
    return heldBytes + arrivals.arrivedBytes + chunk.length > maxAccountBytes ? accountFull : null
  }
  const leaveRoom = () => {
    arrivals.arrivedBytes -= length
    length = 0
  }
  await pipeline(
    bytes,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        problem = problemWith(chunk)
        if (problem) return leaveRoom()
        length += chunk.length
        arrivals.arrivedBytes += chunk.length
        yield chunk
      }
    },
    createWriteStream(path, { flags: 'wx', mode: 0o600 }),
  ).catch((error: unknown) => {
    leaveRoom()
    if (!problem) throw error
  })
  if (problem) return problem
  if (arrivals.isAccountGone) return accountGone
  return length === 0 ? new Problem('The file is empty.', { field: 'file' }) : null
}

/** Puts the draft under the first free name of its folder. A link never replaces a file, as a rename would. */
async function claimed(draft: string, folder: string, name: string): Promise<string> {
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
    await (await open(to, 'wx', 0o600)).close()
    await rename(from, to)
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** Again when an upload put something into it meanwhile. */
function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3 })
}

/** What is left of a name when nothing in it can mean anything to a file system; null when that is nothing. */
function safeName(wanted: string): string | null {
  const plain = basename(wanted.replaceAll('\\', '/'))
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N} ._()-]/gu, '_')
    .replace(/^[. ]+/, '')
  const end = extname(plain)
  const name =
    plain
      .slice(0, plain.length - end.length)
      .slice(0, maxNameCharacters - end.length)
      .trim() + end
  return name === '' || name === end ? null : name
}

const notASheet = new Problem('This is neither a CSV file nor an Excel workbook (.csv, .tsv, .xlsx).', {
  field: 'file',
})
const fileTooLong = new Problem(`A file may have ${maxUploadBytes / mebibyte} MB.`, { field: 'file' })
const accountFull = new Problem(
  `The files of an account may have ${maxAccountBytes / mebibyte} MB together; disconnect some first.`,
  { field: 'file' },
)
const accountGone = new Problem('The account of this file is no longer there.', { kind: 'not_found' })
const tooManyAtATime = new Problem(
  `${maxUploadsAtATime} uploads of an account can run at a time. Try again when one of them is done.`,
  { kind: 'too_often', field: 'file', retryAfterSeconds: 5 },
)
