import type { Admission } from '../../admission/admit.ts'
import type { AdmissionCall } from '../../admission/judge.ts'
import type { ChangePage, ChangePages } from '../../changes/change-pages.ts'
import { type ErrorForm, Refusal } from '../../errors.ts'
import type { Logged } from '../../sheets/sheet-log.ts'
import type { Soon } from '../../soon.ts'
import { type Cancel, idleTimers, type Timers } from '../../timers.ts'
import type { ChangesAsked } from '../request/changes-wish.ts'
import { comment, endEvent, openingEvent, pageEvents } from './event-text.ts'

/** Streams of changes that clients have open. */
export interface OpenStreams {
  /** The bytes of one, as they come, until its client leaves or something else ends it. */
  open(wish: StreamWish): AsyncIterable<Uint8Array>
}

export interface StreamWish {
  sheetId: string
  place: Logged
  filter: Pick<ChangesAsked, 'matches' | 'filterName'>
  /** Asked again while it is open. */
  call: AdmissionCall
  clientAddress: string
  form: ErrorForm
  /** Says when its client is gone. */
  left: AbortSignal
  /** It sends no more. It may still read, or be gone: that shows when something is sent to it. */
  onHalfClosed(probe: () => void): void
  /** For each page, and for each piece of what is long. */
  nextTurn(): Soon<void>
}

export interface OpenStreamsParts {
  pages: ChangePages
  admission: Pick<Admission, 'admit' | 'stillAdmits'>
  timers?: Timers
  random?: () => number
}

const commentEveryMs = 15_000
/** Whoever is gone answers the first comment with a reset, and the second one finds that. */
const probeAgainMs = 250
/** A stream is a request a minute: one that is open costs what a client costs that asks with `wait=60`. */
const commentsBetweenRequests = 4
/** How soon a stream ends on which nothing comes. Nothing that comes is sent without asking first. */
const judgeEveryMs = 2_000
/** When an instance ends, its clients do not all come back in the same moment. */
const retryMs = { least: 1_000, most: 3_000 }
/** The store is away: a client that was cut would be refused. */
const tryAgainMs = 1_000

interface Stream {
  wish: StreamWish
  callName: string
  page: ChangePage | null
  refusal: Refusal | null
  isCommentDue: boolean
  isOver: boolean
  wake(): void
}

export function createOpenStreams(parts: OpenStreamsParts): OpenStreams {
  const { pages, admission, timers = idleTimers, random = Math.random } = parts
  const streams = new Set<Stream>()
  /** Those who ask the same in the same moment share the answer. */
  const asked = new Map<string, Promise<Refusal | null>>()
  let isJudging = false

  return { open: (wish) => events(wish) }

  async function* events(wish: StreamWish): AsyncGenerator<Uint8Array> {
    const { sheetId, place, filter, form, left } = wish
    const stream = begin(wish)
    let leavePages = follow(place)
    const cancelComments = commentsOf(stream)
    const leave = () => {
      stream.isOver = true
      stream.wake()
    }
    left.addEventListener('abort', leave, { once: true })
    try {
      yield openingEvent(place, retryMs.least + random() * (retryMs.most - retryMs.least))
      while (!left.aborted) {
        const { page } = stream
        if (stream.refusal) return yield endEvent(stream.refusal, form)
        if (page) {
          stream.page = null
          if (page.end === 'closing') return
          // All who stand at one place are woken in the same moment.
          await wish.nextTurn()
          const refusal = (await refusalNow(stream)) ?? refusalFor(page)
          if (refusal) return yield endEvent(refusal, form)
          const events = pageEvents(page, filter, wish.nextTurn)
          if (events instanceof Uint8Array) yield events
          else yield* events
          leavePages = follow(page.next)
        } else if (stream.isCommentDue) {
          stream.isCommentDue = false
          yield comment
        } else await woken(stream)
      }
    } finally {
      stream.isOver = true
      left.removeEventListener('abort', leave)
      leavePages()
      cancelComments()
      streams.delete(stream)
    }

    function follow(from: Logged): () => void {
      return pages.next(sheetId, from, (page) => {
        stream.page = page
        stream.wake()
      })
    }
  }

  function begin(wish: StreamWish): Stream {
    const callName = JSON.stringify([wish.call.address, wish.call.keyHash])
    const stream: Stream = {
      ...{ wish, callName, page: null, refusal: null, isCommentDue: false, isOver: false },
      wake() {},
    }
    streams.add(stream)
    judgeLater()
    return stream
  }

  function commentsOf(stream: Stream): Cancel {
    let cancel: Cancel = () => {}
    let count = 0
    const isDue = () => {
      stream.isCommentDue = true
      stream.wake()
    }
    stream.wish.onHalfClosed(() => {
      isDue()
      timers.after(probeAgainMs, isDue)
    })
    const again = () => {
      cancel = timers.after(commentEveryMs, () => {
        isDue()
        if (++count % commentsBetweenRequests === 0) void countRequest(stream)
        again()
      })
    }
    again()
    return () => cancel()
  }

  /** A store that cannot be asked says nothing about anyone. */
  async function countRequest(stream: Stream): Promise<void> {
    const { call, clientAddress } = stream.wish
    const admitted = await admission.admit(call, clientAddress).catch(() => null)
    if (admitted?.verdict instanceof Refusal) refuse(stream, admitted.verdict)
  }

  function judgeLater(): void {
    if (isJudging) return
    isJudging = true
    timers.after(judgeEveryMs, () => {
      void Promise.all([...streams].map(judge)).then(() => {
        isJudging = false
        if (streams.size > 0) judgeLater()
      })
    })
  }

  async function judge(stream: Stream): Promise<void> {
    const refusal = await stillAdmitted(stream).catch(() => null)
    if (refusal) refuse(stream, refusal)
  }

  function refuse(stream: Stream, refusal: Refusal): void {
    stream.refusal = refusal
    stream.wake()
  }

  /** Whatever holds when this is called; waits for a store that is away. */
  async function refusalNow(stream: Stream): Promise<Refusal | null> {
    while (!stream.isOver) {
      try {
        return await stillAdmitted(stream)
      } catch {
        await new Promise<void>((resolve) => timers.after(tryAgainMs, resolve))
      }
    }
    return null
  }

  function stillAdmitted({ callName, wish }: Stream): Promise<Refusal | null> {
    const together = asked.get(callName)
    if (together) return together
    const answer = Promise.resolve().then(() => {
      // Whoever comes from now on may know of a change that this question does not.
      asked.delete(callName)
      return admission.stillAdmits(wish.call)
    })
    asked.set(callName, answer)
    return answer
  }
}

function woken(stream: Stream): Promise<void> {
  return new Promise((resolve) => {
    stream.wake = resolve
  })
}

function refusalFor({ end }: ChangePage): Refusal | null {
  if (end === 'no_log') return noLog
  return end === 'expired' ? new Refusal('cursor_expired') : null
}

export const noLog = new Refusal('not_found', {
  details: 'This sheet keeps no log of changes (history_days is 0).',
})
