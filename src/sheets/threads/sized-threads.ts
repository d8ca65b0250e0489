import type { Clock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { ShareName } from '../../shares/shares.ts'
import { createTurnstile, type Turn } from '../../shares/turnstile.ts'
import { createThreads, ownBuffer, ThreadLost, type WholeAnswer } from './threads.ts'

/**
 * Threads of two kinds. What is short has threads that nothing large comes to; what is large goes one after the other, on another.
 * What looked short and takes its time is taken from its thread as soon as others wait for
 * it, and begins anew among the large. So however many accounts let large files be read, small ones do not wait for them.
 */
export interface SizedThreads<Job, Reply> {
  /** Of one piece of work; whoever it is for has left when `left` says so, and it is not done any more. */
  turnOf(accountId: string, left?: AbortSignal): SizedTurn<Job, Reply>
  close(): Promise<void>
}

export interface SizedTurn<Job, Reply> {
  /**
   * Among those for so many bytes; at once where it has begun there. Throws `TooManyAtOnce`, and the reason of `left` like
   * `run`.
   */
  begin(bytes: number): Promise<void>
  /** In a turn that has begun. `job.bytes` are handed over, also where they are copied. Throws what `Threads` throws. */
  run(job: Job): Promise<WholeAnswer<Reply>>
  end(): void
}

export interface SizedThreadsParts {
  script: URL
  share: ShareName
  /** Of each kind. */
  placesOfAccount: number
  waitingOfAccount: number
  clock: Pick<Clock, 'elapsedMs'>
  observe: Observe
}

/** Of CSV or JSON, so much is read in some 50 ms. Of a workbook nobody knows before. */
export const shortBytes = 256 * 1024
export const shortThreads = 2
/** So little is read in a moment, and is read first. */
const tinyBytes = 16 * 1024
/** What takes longer makes room for those who wait. A thread that is lost with it takes as long again to start. */
const sliceMs = 150
/** Whose file took longer is not tried again among the short ones for so long, nor is any of the account's that is as large. */
const rememberedMs = 60_000
/** Of so few bytes nothing large is made, or it belongs to the large. */
const shortHeapMb = 512

export function createSizedThreads<Job extends { bytes: Uint8Array }, Reply>(
  parts: SizedThreadsParts,
): SizedThreads<Job, Reply> {
  const { script, clock } = parts
  const short = createThreads<Job, Reply>({
    script,
    count: shortThreads,
    maxOldGenerationSizeMb: shortHeapMb,
  })
  const large = createThreads<Job, Reply>({ script, count: 1 })
  const shortTurns = createTurnstile({ ...parts, places: shortThreads })
  const largeTurns = createTurnstile({ ...parts, places: 1 })
  /** In the order of time. */
  const overruns = new Map<string, { bytes: number; atMs: number }>()
  let isClosing = false

  return {
    turnOf(accountId, left) {
      let turn: Turn | null = null
      let isLarge = false

      return {
        begin(bytes) {
          const isAmongLarge = bytes > shortBytes || hasOverrun(accountId, bytes)
          return beginAmong(isAmongLarge, isAmongLarge || bytes <= tinyBytes ? 0 : 1)
        },
        async run(job) {
          const bytes = ownBuffer(job.bytes)
          if (isLarge) return runLarge({ ...job, bytes })
          const slice = createSlice(() => !isClosing && shortTurns.isWantedByOthers(accountId))
          const again = async (error: unknown) => {
            if (!(error instanceof ThreadLost) || isClosing) throw error
            noteOverrun(accountId, bytes.byteLength)
            await beginAmong(true)
            return runLarge({ ...job, bytes })
          }
          try {
            const { reply, rest } = await short.run({ ...job, bytes }, [], {
              ended: slice.over,
              onBegun: slice.begin,
            })
            if (!rest) slice.end()
            return { reply, rest: rest && wholeRest(rest.finally(slice.end), again) }
          } catch (error) {
            slice.end()
            return again(error)
          }
        },
        end,
      }

      async function beginAmong(isAmongLarge: boolean, rank = 0): Promise<void> {
        if (turn && (isLarge || !isAmongLarge)) return
        end()
        const begun = (isAmongLarge ? largeTurns : shortTurns).turnOf(accountId)
        await begun.begin(undefined, left, rank)
        turn = begun
        isLarge = isAmongLarge
      }

      function end(): void {
        turn?.end()
        turn = null
      }

      async function runLarge(job: Job & { bytes: Uint8Array<ArrayBuffer> }): Promise<WholeAnswer<Reply>> {
        try {
          return await large.run(job, [job.bytes.buffer], left ? { ended: left } : {})
        } catch (error) {
          left?.throwIfAborted()
          throw error
        }
      }
    },
    async close() {
      isClosing = true
      await Promise.all([short.close(), large.close()])
    },
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
