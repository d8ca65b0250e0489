import type { Observe } from '../../reporting/observe.ts'
import type { ShareName } from '../../shares/shares.ts'
import { Problem } from '../problem.ts'
import { type HeldFiles, takenBytes, type UploadRoom } from './upload-room.ts'

/** The uploads of an account that run side by side share its room, and count what each of them takes of it. */
export interface UploadArrivals {
  /** Room for one more file, which is to be left again; a problem where there is none. */
  enter(accountId: string, wish: ArrivalWish): Promise<Arrival | Problem>
  /** For a file that goes while others come; `remove` tells how long it was. */
  leaving(accountId: string, remove: () => Promise<number>): Promise<void>
  /** For uploads that run: they are told that their account is gone. */
  noteAccountGone(accountId: string): void
}

export interface ArrivalWish {
  /** The length of the file whose place it takes; null for a new one. */
  replacedLength: number | null
}

export interface Arrival {
  readonly isAccountGone: boolean
  /** Before `bytes` more are kept; a problem where there is no room for them. */
  grow(bytes: number): Problem | null
  /** It is in its place, and a file of this length is gone from there. A problem where that one was shorter than it was at first. */
  takePlaceOf(length: number): Problem | null
  /** It is kept: its room stays taken. */
  keep(): void
  /** In any case, at the end. What is not kept leaves its room to the others. */
  leave(): void
}

const mebibyte = 1024 * 1024
const maxUploadBytes = 50 * mebibyte
const maxUploadsAtATime = 4

/** The uploads of one account that run side by side, from the first to the last. */
interface Together {
  running: number
  uploads: number
  /** Looked up once, by the first: what the others bring is counted below, ended or not. */
  held: Promise<HeldFiles>
  files: number
  bytes: number
  isAccountGone: boolean
}

export function createArrivals(room: UploadRoom, observe: Observe): UploadArrivals {
  const running = new Map<string, Together>()

  return {
    async enter(accountId, { replacedLength }) {
      const together = togetherOf(accountId)
      if (together.uploads >= maxUploadsAtATime) return tooManyAtATime
      together.running++
      together.uploads++
      const leave = () => {
        together.uploads--
        end(accountId, together)
      }
      try {
        const held = await together.held
        const arrival = createArrival(accountId, together, held, replacedLength, leave)
        if (arrival instanceof Problem) leave()
        return arrival
      } catch (error) {
        leave()
        throw error
      }
    },
    async leaving(accountId, remove) {
      const together = togetherOf(accountId)
      together.running++
      try {
        // Not before: it would be left out of what is held, and taken off it as well.
        await together.held
        together.bytes -= takenBytes(await remove())
        together.files--
      } finally {
        end(accountId, together)
      }
    },
    noteAccountGone(accountId) {
      const together = running.get(accountId)
      if (together) together.isAccountGone = true
    },
  }

  function togetherOf(accountId: string): Together {
    const known = running.get(accountId)
    if (known) return known
    const held = room.of(accountId)
    // Each upload awaits it, and hears of a failure.
    held.catch(() => {})
    const together = { running: 0, uploads: 0, held, files: 0, bytes: 0, isAccountGone: false }
    running.set(accountId, together)
    return together
  }

  function end(accountId: string, together: Together): void {
    together.running--
    if (together.running === 0) running.delete(accountId)
  }

  function createArrival(
    accountId: string,
    together: Together,
    held: HeldFiles,
    replacedLength: number | null,
    leave: () => void,
  ): Arrival | Problem {
    const files = replacedLength === null ? 1 : 0
    if (held.files + together.files + files > room.maxFiles) {
      return shareUsedUp(accountId, 'upload_files', tooManyFiles(room.maxFiles))
    }
    let length = 0
    let taken = takenBytes(0)
    /** Both are there until the one takes the other's place. */
    let toGo = replacedLength === null ? 0 : takenBytes(replacedLength)
    let isKept = false
    const isTooMuch = () => held.bytes + together.bytes - toGo > room.maxBytes
    together.files += files
    together.bytes += taken
    if (isTooMuch()) {
      together.files -= files
      together.bytes -= taken
      return shareUsedUp(accountId, 'upload_mb', tooManyBytes(room.maxBytes))
    }

    return {
      get isAccountGone() {
        return together.isAccountGone
      },
      grow(bytes) {
        if (together.isAccountGone) return accountGone
        if (length + bytes > maxUploadBytes) return fileTooLong
        const more = takenBytes(length + bytes) - taken
        together.bytes += more
        taken += more
        length += bytes
        if (!isTooMuch()) return null
        // It comes to nothing: what it had is the others' at once.
        together.bytes -= taken
        taken = 0
        return shareUsedUp(accountId, 'upload_mb', tooManyBytes(room.maxBytes))
      },
      takePlaceOf(goneLength) {
        toGo = takenBytes(goneLength)
        if (isTooMuch()) return shareUsedUp(accountId, 'upload_mb', tooManyBytes(room.maxBytes))
        together.bytes -= toGo
        toGo = 0
        return null
      },
      keep() {
        isKept = true
      },
      leave() {
        if (!isKept) {
          together.files -= files
          together.bytes -= taken
        }
        leave()
      },
    }
  }

  function shareUsedUp(accountId: string, share: ShareName, problem: Problem): Problem {
    observe({ event: 'share_used_up', share, accountId })
    return problem
  }
}

export const accountGone = new Problem('The account of this file is no longer there.', { kind: 'not_found' })
const fileTooLong = new Problem(`Files can be up to ${maxUploadBytes / mebibyte} MB.`, { field: 'file' })
const tooManyAtATime = new Problem(
  `You can run ${maxUploadsAtATime} uploads at a time. Try again when one is done.`,
  { kind: 'too_often', field: 'file', retryAfterSeconds: 5 },
)

function tooManyFiles(maxFiles: number): Problem {
  return new Problem(`You can have up to ${maxFiles} files. Delete one first.`, {
    field: 'file',
  })
}

function tooManyBytes(maxBytes: number): Problem {
  return new Problem(
    `Your account is limited to ${maxBytes / mebibyte} MB of files. Delete one first, or replace it with a smaller one.`,
    { field: 'file' },
  )
}
