import type { TakerByThen } from '../../../shares/taker.ts'
import type { Turn, Turnstile } from '../../../shares/turnstile.ts'

/** Room in memory for what comes from Google for one read, which may be two answers. */
export interface AnswerRoom extends Turn {
  /** What comes turns out to be long. A promise where that has to wait for others that are. */
  beginLong(patienceMs: number): Promise<void> | undefined
}

export interface AnswerRooms {
  roomOf(taker: TakerByThen): AnswerRoom
}

/** Below it nobody waits for others. */
export const longBytes = 8 * 1024 * 1024

/** How long an answer is nobody knows before it has come: those that are long are few, of all accounts together. */
export function createAnswerRooms(
  fetches: Pick<Turnstile, 'turnOf'>,
  longFetches: Pick<Turnstile, 'turnOf'>,
): AnswerRooms {
  return {
    roomOf(taker) {
      const room = fetches.turnOf(taker)
      const longRoom = longFetches.turnOf(taker)
      let beginning: Promise<void> | null = null
      let isLong = false
      return {
        begin: room.begin,
        beginLong(patienceMs) {
          if (isLong) return undefined
          // Both answers of a read wait for the same place.
          beginning ??= longRoom.begin(patienceMs).then(() => {
            isLong = true
          })
          return beginning
        },
        end() {
          room.end()
          longRoom.end()
          isLong = false
          beginning = null
        },
      }
    },
  }
}
