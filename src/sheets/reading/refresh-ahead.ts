import type { Clock } from '../../clock.ts'
import type { SheetFacts } from '../../store/admission/admission-facts.ts'
import type { Timers } from '../../timers.ts'
import { aheadAtMs, isInUse } from './freshness.ts'
import type { HeldSnapshot, HeldSnapshots } from './held-snapshots.ts'

/** Copies that are in use are refreshed before their time is over, so that nobody waits for the next. */
export interface RefreshAhead {
  /** Somebody was served this copy, while it was fresh. */
  noteUse(copy: HeldSnapshot, use: CopyUse): void
}

export interface CopyUse {
  name: string
  sheet: SheetFacts
  nowMs: number
  /** Rejects when it failed; whoever fetched has reported it. */
  refresh(copy: HeldSnapshot): Promise<unknown>
}

export interface RefreshAheadParts {
  held: Pick<HeldSnapshots, 'get'>
  clock: Pick<Clock, 'elapsedMs'>
  timers: Timers
}

/** A failure stands for so long at least (`standing-failures.ts`). */
const tryAgainMs = 1_000

export function createRefreshAhead({ held, clock, timers }: RefreshAheadParts): RefreshAhead {
  return {
    noteUse(copy, use) {
      if (copy.refreshAtMs === null) {
        copy.refreshAtMs = aheadAtMs(copy, use.sheet)
        if (use.nowMs < copy.refreshAtMs) wakeAt(copy.refreshAtMs, use)
      }
      if (use.nowMs >= copy.refreshAtMs) begin(copy, use)
    },
  }

  /** For those who come now and then, and not in the short time before its end. */
  function wakeAt(refreshAtMs: number, { name, sheet, nowMs, refresh }: CopyUse): void {
    timers.after(refreshAtMs - nowMs, () => {
      // Asked for by its name: a timer must not keep in memory what nobody holds any more.
      const copy = held.get(name)
      const wokenMs = clock.elapsedMs()
      if (copy?.refreshAtMs !== refreshAtMs || wokenMs < refreshAtMs) return
      if (isInUse(copy, sheet, wokenMs)) begin(copy, { name, sheet, nowMs: wokenMs, refresh })
    })
  }

  function begin(copy: HeldSnapshot, { refresh }: CopyUse): void {
    copy.refreshAtMs = Number.POSITIVE_INFINITY
    refresh(copy).catch(() => {
      copy.refreshAtMs = clock.elapsedMs() + tryAgainMs
    })
  }
}
