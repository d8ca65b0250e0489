import { TooManyAtOnce } from '../../errors.ts'
import type { SheetFacts } from '../../store/admission/admission-facts.ts'
import type { HeldSnapshot } from './held-snapshots.ts'

/** A sheet, and the last write to it that whoever asks knows of. */
export type SheetAtSeq = Pick<SheetFacts, 'id' | 'writeSeq'>

/** What those who share a fetch want of it, all together. */
export interface FlightWish {
  /** Grows while the fetch has not begun: what it will read contains every write up to this one. */
  writeSeq: number
  /** Someone waits who may ask again soon after a failure. */
  isUrgent: boolean
  /** Someone waits who wants it from the provider, as of now. */
  mustBeginNow: boolean
  /** Nobody waits: there is a copy that is still fresh, and one that is younger is wanted. */
  isAhead: boolean
  /** Nobody with a key waits for it, so it takes its turns among those of visitors. That may change at any time. */
  isForVisitors: boolean
}

/** What is wanted of a fetch while it goes on: others may join it. */
export interface WishUnderWay extends FlightWish {
  /** Settles when somebody with a key comes to wait for what was begun for visitors. */
  joinedByKeys: Promise<void>
}

interface Flight extends WishUnderWay {
  tellJoinedByKeys(): void
  /** Settles like the fetch does. */
  landed: Promise<HeldSnapshot>
  next: Flight | null
  /** Then it may be refused for what visitors have under way. */
  wasBegunForVisitors: boolean
}

/** One fetch at a time under each name, and any number of readers that wait for it. */
export interface Flights {
  /**
   * Joins the fetch under way, or, when that one may have begun before what this reader must see, the single one
   * that follows it.
   */
  join(
    name: string,
    wish: FlightWish,
    fetch: (wish: WishUnderWay) => Promise<HeldSnapshot>,
  ): Promise<HeldSnapshot>
}

export function createFlights(): Flights {
  const flights = new Map<string, Flight>()

  return { join }

  function join(
    name: string,
    wish: FlightWish,
    fetch: (wish: WishUnderWay) => Promise<HeldSnapshot>,
  ): Promise<HeldSnapshot> {
    const running = flights.get(name)
    if (!running) return begin(name, wish, fetch, null).landed
    if (!wish.mustBeginNow && running.writeSeq === wish.writeSeq) return board(running)
    running.next ??= begin(name, wish, fetch, running.landed)
    running.next.writeSeq = Math.max(running.next.writeSeq, wish.writeSeq)
    running.next.isUrgent ||= wish.isUrgent
    running.next.mustBeginNow ||= wish.mustBeginNow
    running.next.isAhead &&= wish.isAhead
    return board(running.next)

    function board(flight: Flight): Promise<HeldSnapshot> {
      if (flight.isForVisitors && !wish.isForVisitors) {
        flight.isForVisitors = false
        flight.tellJoinedByKeys()
      }
      if (wish.isForVisitors || !flight.wasBegunForVisitors) return flight.landed
      return flight.landed.catch((error: unknown) => {
        if (error instanceof TooManyAtOnce) return join(name, wish, fetch)
        throw error
      })
    }
  }

  function begin(
    name: string,
    wish: FlightWish,
    fetch: (wish: WishUnderWay) => Promise<HeldSnapshot>,
    former: Promise<unknown> | null,
  ): Flight {
    const { promise: joinedByKeys, resolve: tellJoinedByKeys } = Promise.withResolvers<void>()
    const flight: Flight = {
      landed: Promise.resolve() as never,
      ...wish,
      joinedByKeys,
      tellJoinedByKeys,
      next: null,
      wasBegunForVisitors: wish.isForVisitors,
    }
    let formerLanded = former?.then(nothing, nothing)
    flight.landed = fly()
    return flight

    async function fly(): Promise<HeldSnapshot> {
      if (formerLanded) await formerLanded
      // What the former one brought may be large, and this one may wait for its turn for long.
      formerLanded = undefined
      flights.set(name, flight)
      try {
        return await fetch(flight)
      } finally {
        if (!flight.next) flights.delete(name)
      }
    }
  }
}

function nothing(): void {}
