import type { Soon } from '../../soon.ts'

/** A small value that all instances change, each change on top of the one before. */
export interface SharedValue<T> {
  /**
   * Runs `work` on the newest value and keeps what it makes of it. Null says that it did nothing of importance (to the
   * value as it was a few milliseconds ago, at most): that is not written, and what it tidied away may be there again the
   * next time. It may run several times, and only what its last run did counts. When it fails, the change may have been
   * kept all the same: `work` must be able to tell, so that what is repeated counts once.
   */
  change<R>(work: (value: T, nowMs: number) => R | null): Soon<R | null>
  /** As this instance saw it last, for guesses, and the time by which it goes. Not to be changed. */
  known(): { value: T; nowMs: number }
  close(): void
}

/** How a value travels between instances. */
export interface ValueForm<T> {
  /** Higher when `decode` cannot read any more, or reads otherwise, what was written before. */
  version: number
  empty(): T
  encode(value: T): string
  /** Throws when it cannot be read. */
  decode(text: string): T
  /** Nothing in it matters any more: nobody needs to look at it. */
  isIdle(value: T, nowMs: number): boolean
}

/** Makes one, by its name; all who name it so share it. */
export type ShareValue = <T>(name: string, form: ValueForm<T>) => SharedValue<T>
