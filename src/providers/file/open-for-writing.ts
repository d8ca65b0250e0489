import { type BigIntStats, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { setImmediate as othersTurn } from 'node:timers/promises'

/**
 * Whether another process has the file open for writing, as far as Linux lets us see: those of the same user, or all
 * for root, on this machine and outside of other containers. Elsewhere, and of all others, false. Not for every read:
 * it looks at each descriptor of each process. So whoever asks while somebody looks waits for the next look, which is for all of them.
 */
export function isOpenForWriting(path: string, file: BigIntStats): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(false)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  asked.push({ name: basename(path), file, tell: resolve })
  if (!isLooking) void lookForAll()
  return promise
}

interface Asked {
  name: string
  file: BigIntStats
  tell(isOpen: boolean): void
}

let asked: Asked[] = []
let isLooking = false

async function lookForAll(): Promise<void> {
  isLooking = true
  while (asked.length > 0) {
    const byName = Map.groupBy(asked, ({ name }) => name)
    const all = asked
    asked = []
    await look(byName)
    for (const { tell } of all) tell(false)
  }
  isLooking = false
}

/** Tells those whose file is open; the others are told by whoever asked for the look. */
async function look(byName: ReadonlyMap<string, readonly Asked[]>): Promise<void> {
  let looked = 0
  for (const id of namesIn('/proc')) {
    if (!/^\d+$/.test(id) || id === String(process.pid)) continue
    for (const descriptor of namesIn(`/proc/${id}/fd`)) {
      // The kernel answers from memory, five times as fast as by way of a thread; but there may be very many.
      if (++looked % inOneGo === 0) await othersTurn()
      for (const { file, tell } of byName.get(nameBehind(`/proc/${id}/fd/${descriptor}`)) ?? [])
        if (isForWriting(`/proc/${id}`, descriptor, file)) tell(true)
    }
  }
}

const inOneGo = 100
const deletedMark = ' (deleted)'
/** `O_WRONLY` and `O_RDWR`. */
const accessModes = 3

/** What a descriptor leads to, by its name first: following a link to a drive that is away would wait for it. */
function nameBehind(link: string): string {
  try {
    const target = readlinkSync(link)
    return basename(target.endsWith(deletedMark) ? target.slice(0, -deletedMark.length) : target)
  } catch {
    // Closed meanwhile, or none of our business.
    return ''
  }
}

function isForWriting(folder: string, descriptor: string, file: BigIntStats): boolean {
  try {
    const its = statSync(`${folder}/fd/${descriptor}`, { bigint: true })
    if (its.ino !== file.ino || its.dev !== file.dev) return false
    const info = readFileSync(`${folder}/fdinfo/${descriptor}`, 'utf8')
    const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '0', 8)
    return (flags & accessModes) !== 0
  } catch {
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
