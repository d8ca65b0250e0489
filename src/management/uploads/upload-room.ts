import { realpathSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { kindOf } from '../../providers/file/file-location.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { Shares } from '../../shares/shares.ts'

/** How much of the disk the files of an account take, and whether there is room for more. */
export interface UploadRoom {
  maxFiles: number
  maxBytes: number
  of(accountId: string): Promise<HeldFiles>
  /** Why a file that was uploaded may not become as long as this, in words for its owner; null when it may, or is no such file. */
  problemWithLength(path: string, bytes: number): Promise<string | null>
}

export interface HeldFiles {
  files: number
  /** As `takenBytes` counts them. */
  bytes: number
}

const mebibyte = 1024 * 1024
/** What disks give out at a time; a file takes one at least. */
const blockBytes = 4096
/** One that still comes has grown within half a minute: an older one was left by a server that was killed. */
const abandonedMs = 10 * 60 * 1_000

export function takenBytes(length: number): number {
  return Math.max(1, Math.ceil(length / blockBytes)) * blockBytes
}

function isDraft(name: string): boolean {
  return /^\.[0-9A-Za-z]{12}\.part(?:\.|$)/.test(name)
}

export function createUploadRoom(
  folder: string,
  { upload_files: maxFiles, upload_mb }: Pick<Shares, 'upload_files' | 'upload_mb'>,
  observe: Observe,
): UploadRoom {
  const maxBytes = upload_mb * mebibyte
  return {
    maxFiles,
    maxBytes,
    of,
    async problemWithLength(path, bytes) {
      const accountId = accountOf(path)
      if (accountId === null) return null
      const more = takenBytes(bytes) - takenBytes((await stat(path)).size)
      if (more <= 0) return null
      if ((await of(accountId)).bytes + more <= maxBytes) return null
      observe({ event: 'share_used_up', share: 'upload_mb', accountId })
      return `the files of this account would take more than ${upload_mb} MB (its share upload_mb); delete some in the dashboard`
    },
  }

  /** By what the disk says of each file; none is opened. */
  async function of(accountId: string): Promise<HeldFiles> {
    const own = join(folder, accountId)
    const held: HeldFiles = { files: 0, bytes: 0 }
    for (const name of await readdir(own).catch(() => [])) {
      const path = join(own, name)
      const file = await stat(path).catch(() => null)
      if (!file) continue
      if (isDraft(name)) {
        if (Date.now() - file.mtimeMs > abandonedMs) await rm(path, { force: true })
      } else if (isListed(name)) {
        held.files++
        held.bytes += takenBytes(file.size)
      }
    }
    return held
  }

  function accountOf(path: string): string | null {
    let root: string
    try {
      root = realpathSync(folder)
    } catch {
      return null
    }
    const [accountId = '', name, ...deeper] = relative(root, path).split(sep)
    const isInside = name !== undefined && deeper.length === 0 && accountId !== '..'
    return isInside ? accountId : null
  }
}

/** Whatever begins with a dot is on its way, or the trace of a write. */
export function isListed(name: string): boolean {
  return !name.startsWith('.') && kindOf(name) !== null
}
