import type { Clock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { ShareName } from '../../shares/shares.ts'
import { accountOf, type TakerByThen, takerNow } from '../../shares/taker.ts'
import { createPlaces, createTurnstile, type Turn } from '../../shares/turnstile.ts'
import { idleTimers, pause } from '../../timers.ts'
import type { ThreadJob } from './thread-jobs.ts'
import { createThreads, ThreadLost, type ThreadSource, type WholeAnswer } from './threads.ts'

/**
 * The threads of this process, for work on bytes that would block the server, or that a hostile file could take down. Whatever
 * the work, what is short has threads that nothing large comes to; what is large goes one after the other, on another. What
 * looked short and takes its time is taken from its thread as soon as others wait for it, and begins anew among the large. So
 * however many accounts let large files be read or written to, small ones do not wait for them.
 */
export interface ThreadPool {
  /** A way in for one kind of work. Accounts take turns whichever way they come. */
  openDoor(door: DoorParts): ThreadDoor
  close(): Promise<void>
}

export interface DoorParts {
  share: ShareName
  /** Places for this kind of work, and for each size. */
  placesOfAccount: number
  waitingOfAccount: number
}

export interface ThreadDoor {
  /** The turn of one piece of work; whoever it is for has left when `left` says so, and it is not done any more. */
  turnOf(taker: TakerByThen, left?: AbortSignal): ThreadTurn
}

export interface ThreadTurn {
  /**
   * Among those for so many bytes; at once where it has begun there. Throws `TooManyAtOnce`, and the reason of `left` like
   * `run`. `isGoingOn`: with something in memory that was made on a thread before, and that is let go when this is done. It goes
   * before what has yet to be begun, or all who wait would hold theirs.
   */
  begin(bytes: number, isGoingOn?: boolean): Promise<void>
  /**
   * In a turn that has begun, as often as one likes, one after the other. What is in `handOver` is gone from here, also where it
   * is copied. Throws what `Threads` throws.
   */
  run<Input, Reply>(
    job: ThreadJob<Input, Reply>,
    input: Input,
    handOver: readonly ArrayBuffer[],
  ): Promise<WholeAnswer<Reply>>
  /** Does nothing where it has not begun. */
  end(): void
}

export interface ThreadPoolParts {
  clock: Pick<Clock, 'elapsedMs'>
  observe: Observe
  source?: ThreadSource | undefined
}

/** CSV or JSON of this size is read in some 50 ms. A workbook's time nobody knows before. */
const shortBytes = 256 * 1024
/** Less is read in a moment, and is read first. */
const tinyBytes = 16 * 1024
/** What takes longer makes room for those who wait. */
const sliceMs = 150
/**
 * How often an account may have the large thread taken from what nobody waits for any more. Another has to start in its place, which
 * costs as much as many a file, and has no lower priority before it is there: who asked and left again and again would take a
 * processor from those who answer.
 */
const leftEveryMs = 1_000
/** Whose file took longer is not tried again among the short ones for so long, nor is any of the account's that is as large. */
const rememberedMs = 60_000

const shortThreads = {
  count: 2,
  spares: 1,
  /** Nothing large is made of so few bytes, or it belongs to the large. */
  maxOldGenerationSizeMb: 512,
  maxYoungGenerationSizeMb: 4,
  niceness: 2,
}

const largeThreads = {
  count: 1,
  spares: 0,
  /** A thread that outgrows this is ended by the runtime, and the file is called too large. */
  maxOldGenerationSizeMb: 2_048,
  /** With so much large sheets are decoded as fast as with V8's own bound, with half of it they are not. */
  maxYoungGenerationSizeMb: 12,
  niceness: 10,
}

export function createThreadPool({ clock, observe, source }: ThreadPoolParts): ThreadPool {
  const short = createThreads({ ...shortThreads, source })
  const large = createThreads({ ...largeThreads, source })
  const shortPlaces = createPlaces(shortThreads.count)
  const largePlaces = createPlaces(largeThreads.count)
  /** In the order of time. */
  const overruns = new Map<string, { bytes: number; atMs: number }>()
  /** When an account lost a thread that way, in the order of time. */
  const lefts = new Map<string, number>()
  let isClosing = false

  return {
    openDoor(door) {
      const shortTurns = createTurnstile({ ...door, places: shortPlaces, clock, observe })
      const largeTurns = createTurnstile({ ...door, places: largePlaces, clock, observe })

      return {
        turnOf(taker, left) {
          const accountId = accountOf(takerNow(taker))
          let turn: Turn | null = null
          let isLarge = false
          let begunBytes = 0

          return {
            begin(bytes, isGoingOn = false) {
              begunBytes = bytes
              const isAmongLarge = bytes > shortBytes || hasOverrun(accountId, bytes)
              const rank = isAmongLarge || bytes <= tinyBytes ? 1 : 2
              return beginAmong(isAmongLarge, isGoingOn ? rank - 1 : rank)
            },
            async run(job, input, handOver) {
              if (isLarge) return runLarge(job, input, handOver)
              const slice = createSlice(() => !isClosing && shortTurns.isWantedByOthers(takerNow(taker)))
              const again = async (error: unknown) => {
                if (!(error instanceof ThreadLost) || isClosing) throw error
                noteOverrun(accountId, begunBytes)
                await beginAmong(true)
                return runLarge(job, input, handOver)
              }
              try {
                // Copied, because it may have to be done again.
                const wish = { ended: slice.over, onBegun: slice.begin }
                const { reply, rest } = await short.run(job, input, wish)
                if (!rest) slice.end()
                return { reply, rest: rest && wholeRest(rest.finally(slice.end), again) }
              } catch (error) {
                slice.end()
                return again(error)
              }
            },
            end,
          }

          async function beginAmong(isAmongLarge: boolean, rank = 1): Promise<void> {
            if (turn && (isLarge || !isAmongLarge)) return
            end()
            const begun = (isAmongLarge ? largeTurns : shortTurns).turnOf(taker)
            await begun.begin(undefined, left, rank)
            while (isAmongLarge && left) {
              const waitMs = leftToWaitMs(accountId)
              if (waitMs <= 0) break
              // Without a place: others go on, and those of the account that cannot leave.
              begun.end()
              await pause(idleTimers, waitMs, left)
              await begun.begin(undefined, left, rank)
            }
            turn = begun
            isLarge = isAmongLarge
          }

          function noteIfLeft(): void {
            if (left?.aborted) noteLeft(accountId)
          }

          function end(): void {
            turn?.end()
            turn = null
          }

          async function runLarge<Input, Reply>(
            job: ThreadJob<Input, Reply>,
            input: Input,
            handOver: readonly ArrayBuffer[],
          ): Promise<WholeAnswer<Reply>> {
            // A thread would be started, or lost, for nothing.
            left?.throwIfAborted()
            try {
              const answer = await large.run(job, input, { handOver, ...(left && { ended: left }) })
              answer.rest?.catch(noteIfLeft)
              return answer
            } catch (error) {
              noteIfLeft()
              left?.throwIfAborted()
              throw error
            }
          }
        },
      }
    },
    async close() {
      isClosing = true
      await Promise.all([short.close(), large.close()])
    },
  }

  function leftToWaitMs(accountId: string): number {
    return (lefts.get(accountId) ?? Number.NEGATIVE_INFINITY) + leftEveryMs - clock.elapsedMs()
  }

  function noteLeft(accountId: string): void {
    lefts.delete(accountId)
    lefts.set(accountId, clock.elapsedMs())
    for (const known of lefts.keys()) {
      if (leftToWaitMs(known) > 0) break
      lefts.delete(known)
    }
  }

  function hasOverrun(accountId: string, bytes: number): boolean {
    const overrun = overruns.get(accountId)
    return overrun !== undefined && bytes >= overrun.bytes && clock.elapsedMs() - overrun.atMs < rememberedMs
  }

  function noteOverrun(accountId: string, bytes: number): void {
    const nowMs = clock.elapsedMs()
    const least = hasOverrun(accountId, bytes) ? (overruns.get(accountId)?.bytes ?? bytes) : bytes
    overruns.delete(accountId)
    overruns.set(accountId, { bytes: least, atMs: nowMs })
    for (const [known, { atMs }] of overruns) {
      if (nowMs - atMs < rememberedMs) break
      overruns.delete(known)
    }
  }
}

/** The rest of what is done again is the whole of it, where that does not come in parts. */
async function wholeRest<Reply>(
  rest: Promise<Reply>,
  again: (error: unknown) => Promise<WholeAnswer<Reply>>,
): Promise<Reply> {
  try {
    return await rest
  } catch (error) {
    const anew = await again(error)
    return anew.rest ?? anew.reply
  }
}

/** The time that a job has at least, and more while nobody else waits. */
function createSlice(isWanted: () => boolean) {
  const over = new AbortController()
  let timer: NodeJS.Timeout | undefined
  return {
    over: over.signal,
    begin() {
      timer = setTimeout(() => {
        if (isWanted()) over.abort(new Error('Others waited'))
        else timer?.refresh()
      }, sliceMs).unref()
    },
    end: () => clearTimeout(timer),
  }
}
