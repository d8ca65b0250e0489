import { createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
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

/** `folder`: of all accounts. */
export function createUploads(folder: string, decoding: Decoding): Uploads {
  const knownTabs = new Map<string, string[]>()
  const folderOf = (accountId: string) => join(folder, accountId)

  return {
    list,
    async save(accountId, wanted, bytes) {
      const name = safeName(wanted)
      if (name === null || !kindOf(name)) return notASheet
      const own = folderOf(accountId)
      await mkdir(own, { recursive: true })
      const held = await list(accountId)
      const usedBytes = held.reduce((sum, file) => sum + file.bytes, 0)
      const draft = join(own, `.${randomBase62(12)}.part`)
      try {
        const problem = await written(bytes, draft, Math.min(maxUploadBytes, maxAccountBytes - usedBytes))
        if (problem) return problem
        const free = freeName(name, new Set(held.map((file) => file.name)))
        await rename(draft, join(own, free))
        return await described(accountId, free)
      } finally {
        await rm(draft, { force: true })
      }
    },
    async locate(accountId, name, tab) {
      const isThere = (await list(accountId)).some((file) => file.name === name)
      if (!isThere) return new Problem('There is no such file here. Upload it first.', { kind: 'not_found' })
      return locateFile(join(folderOf(accountId), name), tab)
    },
    removeAll: (accountId) => rm(folderOf(accountId), { recursive: true, force: true }),
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
    const tabs = knownTabs.get(version) ?? (await orProblem(async () => tabsOf(await readFile(path))))
    if (tabs instanceof Problem) {
      // What cannot be opened now never will be: it is not kept.
      await rm(path, { force: true })
      return tabs
    }
    knownTabs.set(version, tabs)
    return { name, tabs, bytes: size }
  }

  async function tabsOf(bytes: Buffer): Promise<string[]> {
    const module = new URL('./uploaded-tabs.ts', import.meta.url).href
    const decoder = { module, name: 'decodeTabNames', options: {} }
    const { snapshot } = await decoding.decode({ bytes: new Uint8Array(bytes), version: '', decoder })
    const rows = JSON.parse(Buffer.from(snapshot.listJson).toString()) as { tab: unknown }[]
    return rows.map(({ tab }) => String(tab))
  }
}

async function written(bytes: Readable, path: string, maxBytes: number): Promise<Problem | null> {
  let length = 0
  let isTooLong = false
  await pipeline(
    bytes,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        length += chunk.length
        if (length > maxBytes) {
          isTooLong = true
          return
        }
        yield chunk
      }
    },
    createWriteStream(path, { flags: 'wx', mode: 0o600 }),
  ).catch((error: unknown) => {
    if (!isTooLong) throw error
  })
  if (isTooLong) return maxBytes < maxUploadBytes ? accountFull : fileTooLong
  return length === 0 ? new Problem('The file is empty.', { field: 'file' }) : null
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

function freeName(name: string, taken: ReadonlySet<string>): string {
  const end = extname(name)
  const start = name.slice(0, name.length - end.length)
  for (let copy = 1; ; copy++) {
    const candidate = copy === 1 ? name : `${start}-${copy}${end}`
    if (!taken.has(candidate)) return candidate
  }
}

const notASheet = new Problem('This is neither a CSV file nor an Excel workbook (.csv, .tsv, .xlsx).', {
  field: 'file',
})
const fileTooLong = new Problem(`A file may have ${maxUploadBytes / mebibyte} MB.`, { field: 'file' })
const accountFull = new Problem(
  `The files of an account may have ${maxAccountBytes / mebibyte} MB together; disconnect some first.`,
  { field: 'file' },
)
