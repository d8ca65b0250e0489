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
}

interface Flight extends FlightWish {
  /** Settles like the fetch does. */
  landed: Promise<HeldSnapshot>
  next: Flight | null
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
    fetch: (wish: FlightWish) => Promise<HeldSnapshot>,
  ): Promise<HeldSnapshot>
}

export function createFlights(): Flights {
  const flights = new Map<string, Flight>()

  return {
    join(name, wish, fetch) {
      const running = flights.get(name)
      if (!running) return begin(name, wish, fetch, null).landed
      if (!wish.mustBeginNow && running.writeSeq === wish.writeSeq) return running.landed
      running.next ??= begin(name, wish, fetch, running.landed)
      running.next.writeSeq = Math.max(running.next.writeSeq, wish.writeSeq)
      running.next.isUrgent ||= wish.isUrgent
      running.next.mustBeginNow ||= wish.mustBeginNow
      running.next.isAhead &&= wish.isAhead
      return running.next.landed
    },
  }

  function begin(
    name: string,
    wish: FlightWish,
    fetch: (wish: FlightWish) => Promise<HeldSnapshot>,
    after: Promise<unknown> | null,
  ): Flight {
    const flight: Flight = { landed: Promise.resolve() as never, ...wish, next: null }
    flight.landed = fly()
    return flight

    async function fly(): Promise<HeldSnapshot> {
      if (after) await after.catch(() => {})
      flights.set(name, flight)
      try {
        return await fetch(flight)
      } finally {
        if (!flight.next) flights.delete(name)
      }
    }
  }
}
