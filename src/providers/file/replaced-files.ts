import { randomBytes } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { Observe } from '../../reporting/observe.ts'
import { idleTimers } from '../../timers.ts'

/**
 * A program that had opened a file before we replaced it goes on writing to the old one, which has no name any more: what
 * it saves would be gone. So we keep the old one open for a moment, and what is saved into it is put beside the file,
 * under a name of its own. Merging it is left to people: nobody else knows which of two values is meant.
 */
export interface ReplacedFiles {
  /** Takes the handle over. `last` is how the file was when we replaced it. */
  keep(path: string, handle: FileHandle, last: Pick<BigIntStats, 'size' | 'mtimeNs'>): void
}

interface Kept {
  path: string
  handle: FileHandle
  /** As last seen; a change resets the clock. */
  last: Pick<BigIntStats, 'size' | 'mtimeNs'>
  isChanged: boolean
  sinceMs: number
  changedMs: number
}

const lookEveryMs = 500
const keepMs = 10_000
/** A save is over when nothing came for so long; one that never ends is copied as it is then. */
const restMs = 2_000
const longestSaveMs = 60_000
const maxStartBytes = 200
/** Open files are few on some systems. */
const maxKept = 64

export function createReplacedFiles(observe: Observe): ReplacedFiles {
  let all: Kept[] = []
  let isLooking = false

  return {
    keep(path, handle, { size, mtimeNs }) {
      const nowMs = performance.now()
      all.push({ path, handle, last: { size, mtimeNs }, isChanged: false, sinceMs: nowMs, changedMs: nowMs })
      while (all.length > maxKept) void end(all.shift())
      if (isLooking) return
      isLooking = true
      idleTimers.after(lookEveryMs, lookOn)
    },
  }

  async function lookOn(): Promise<void> {
    const over = (await Promise.all(all.map(async (kept) => ((await isOver(kept)) ? kept : null)))).filter(
      (kept) => kept !== null,
    )
    all = all.filter((kept) => !over.includes(kept))
    for (const kept of over) await end(kept)
    isLooking = all.length > 0
    if (isLooking) idleTimers.after(lookEveryMs, lookOn)
  }

  async function isOver(kept: Kept): Promise<boolean> {
    const nowMs = performance.now()
    await noteLateSave(kept, nowMs)
    if (!kept.isChanged) return nowMs - kept.sinceMs > keepMs
    return nowMs - kept.changedMs > restMs || nowMs - kept.sinceMs > longestSaveMs
  }

  async function end(kept: Kept | undefined): Promise<void> {
    if (!kept) return
    await noteLateSave(kept, performance.now())
    if (kept.isChanged) observe({ event: 'file_saved_too_late', copy: await putBeside(kept) })
    await kept.handle.close().catch(() => {})
  }
}

async function noteLateSave(kept: Kept, nowMs: number): Promise<void> {
  const now = await kept.handle.stat({ bigint: true }).catch(() => null)
  if (!now || (now.size === kept.last.size && now.mtimeNs === kept.last.mtimeNs)) return
  kept.last = now
  kept.isChanged = true
  kept.changedMs = nowMs
}

/** Names of files end at 255 bytes. */
function startOf(name: string): string {
  let start = name
  while (Buffer.byteLength(start) > maxStartBytes) start = Array.from(start).slice(0, -1).join('')
  return start
}

/** How the name of the copy ends, which no other does; its beginning is an owner's word. null where none could be made. */
async function putBeside({ path, handle }: Kept): Promise<string | null> {
  const ending = extname(path)
  const end = `saved-too-late-${randomBytes(4).toString('hex')}${ending}`
  const copyPath = join(dirname(path), `${startOf(basename(path, ending))}.${end}`)
  try {
    const { mode, uid, gid } = await handle.stat()
    await using copy = await open(copyPath, 'wx', mode & 0o777)
    await copy.chmod(mode & 0o777)
    if (process.getuid?.() === 0) await copy.chown(uid, gid)
    const bytes = Buffer.allocUnsafe(1024 * 1024)
    for (let position = 0; ; ) {
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, position)
      if (bytesRead === 0) break
      await copy.write(bytes, 0, bytesRead, position)
      position += bytesRead
    }
    await copy.sync()
    return end
  } catch {
    await unlink(copyPath).catch(() => {})
    return null
  }
}
