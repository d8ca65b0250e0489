import type { RateWindow } from './rate-windows.ts'

/** Rate windows in a place that may lose them at any time. */
export interface FleetingWindows {
  /** Which life of that place answers at present: what it knew in another is gone, or old. Null while it is away. */
  life(): string | null
  /**
   * Counts one request, unless the window is full. None is opened where `opening` does not allow it, nor in the place of
   * one that was opened under a later loss. One atomic step.
   */
  takeFromWindow(
    name: string,
    limit: number,
    windowMs: number,
    opening: Opening,
  ): Promise<RateWindow | NotOpen>
  readWindow(name: string, limit: number, windowMs: number, underMs: number): Promise<RateWindow>
}

export interface Opening {
  /** The loss after which it is opened: windows from before one that all know of are over. */
  underMs: number
  /** 'never', or 'alone': not within a window's time after another; or after the one that ended then. */
  may: 'never' | 'alone' | { afterOneThatEndedAtMs: number }
}

export interface NotOpen {
  isOpen: false
  /** What the window held that ended less than a window's time ago; 0 where there was none. */
  countBefore: number
  endedAtMs: number
}

/** Rate windows that stand in for fleeting ones: who counts there must agree on when that ends. */
export interface StandInWindows {
  /** Null when it is not before `opensBeforeMs` any more, by the clock of that place. */
  takeFromWindow(
    name: string,
    limit: number,
    windowMs: number,
    opensBeforeMs: number,
  ): Promise<RateWindow | null>
  /** Null where no window is open. */
  takeFromOpen(name: string, limit: number): Promise<RateWindow | null>
  readWindow(name: string, limit: number, windowMs: number): Promise<RateWindow>
  /** What the window held that ended less than `withinMs` ago; 0 where there was none. */
  countOfLast(name: string, withinMs: number): Promise<number>
}
