/** How long each turn of this thread's loop works: neither rests nor a crowded machine count. */
export interface TurnWatch {
  /** Ends it; the longest first. */
  stop(): number[]
}

const mostKept = 10

export function startTurnWatch(): TurnWatch {
  let longest: number[] = []
  let isOver = false
  let last = process.threadCpuUsage()
  const note = () => {
    const now = process.threadCpuUsage()
    const tookMs = (now.user - last.user + now.system - last.system) / 1_000
    last = now
    if (longest.length < mostKept || tookMs > (longest.at(-1) ?? 0)) {
      longest = [...longest, tookMs].sort((one, other) => other - one).slice(0, mostKept)
    }
  }
  const look = () => {
    note()
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  return {
    stop() {
      isOver = true
      // What is asked for in this process may be answered, and told here, before the next look.
      note()
      return longest.map((ms) => Math.round(ms * 10) / 10)
    },
  }
}
