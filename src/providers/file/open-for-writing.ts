import { type BigIntStats, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { setImmediate as othersTurn } from 'node:timers/promises'

/**
 * Whether another process has the file open for writing, as far as Linux lets us see: those of the same user, or all
 * for root, on this machine and outside of other containers. Elsewhere, and of all others, false. Not for every read:
 * it looks at each descriptor of each process.
 */
export async function isOpenForWriting(path: string, file: BigIntStats): Promise<boolean> {
  if (process.platform !== 'linux') return false
  let looked = 0
  for (const id of namesIn('/proc')) {
    if (!/^\d+$/.test(id) || id === String(process.pid)) continue
    for (const descriptor of namesIn(`/proc/${id}/fd`)) {
      // The kernel answers from memory, five times as fast as by way of a thread; but there may be very many.
      if (++looked % inOneGo === 0) await othersTurn()
      if (isForWriting(`/proc/${id}`, descriptor, basename(path), file)) return true
    }
  }
  return false
}

const inOneGo = 100
const deletedMark = ' (deleted)'
/** `O_WRONLY` and `O_RDWR`. */
const accessModes = 3

function isForWriting(folder: string, descriptor: string, name: string, file: BigIntStats): boolean {
  const link = `${folder}/fd/${descriptor}`
  try {
    // By its name first: following a link to a drive that is away would wait for it.
    const target = readlinkSync(link)
    if (basename(target.endsWith(deletedMark) ? target.slice(0, -deletedMark.length) : target) !== name)
      return false
    const its = statSync(link, { bigint: true })
    if (its.ino !== file.ino || its.dev !== file.dev) return false
    const info = readFileSync(`${folder}/fdinfo/${descriptor}`, 'utf8')
    const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '0', 8)
    return (flags & accessModes) !== 0
  } catch {
    // Closed meanwhile, or none of our business.
    return false
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
