import { createWriteStream, renameSync, statSync } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileMode } from '../../secrets/private-data.ts'
import { Problem } from '../problem.ts'
import { type Arrival, accountGone } from './upload-arrivals.ts'

export const noSuchFile = new Problem('File not found. Upload it first.', { kind: 'not_found' })

/** Writes what arrives into a file of its own, down to the disk; a problem where it is too much, or nothing. */
export async function writeDraft(bytes: Readable, path: string, arrival: Arrival): Promise<Problem | null> {
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
export async function claimName(draft: string, folder: string, name: string): Promise<string> {
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
export async function linkOrReplaceOwn(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (isCode(error, 'EEXIST') || isCode(error, 'ENOENT')) throw error
    await (await open(to, 'wx', fileMode)).close()
    await rename(from, to)
  }
}

/**
 * Puts the draft in the place of a file, in one breath, like any save by renaming: a write of ours that is being made ready
 * finds another file, and looks again.
 */
export function putInPlace(draft: string, path: string, arrival: Arrival): Problem | null {
  const former = statSync(path, { throwIfNoEntry: false })
  if (!former) return noSuchFile
  const problem = arrival.takePlaceOf(former.size)
  if (!problem) renameSync(draft, path)
  return problem
}

/** A name is on the disk when its folder is. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r')
  await folder.sync()
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

export function unlessMissing(error: unknown): null {
  if (isCode(error, 'ENOENT')) return null
  throw error
}

/** Tries again when an upload put something into it meanwhile. */
export function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3 })
}
