import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** What all processors did since the start, in the kernel's ticks. */
export interface ProcessorTicks {
  readonly worked: number
  /** This machine had work for them, and its host gave them to other machines. */
  readonly stolen: number
}

const processorsFile = '/proc/stat'
const probeMs = 500
const betweenProbesMs = 15_000
const betweenLooksMs = 30_000

/** Where the kernel does not tell (another system than Linux), nothing is taken for stolen. */
export function readProcessorTicks(): ProcessorTicks {
  return existsSync(processorsFile)
    ? processorTicksOf(readFileSync(processorsFile, 'utf8'))
    : { worked: 0, stolen: 0 }
}

/** The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal. */
export function processorTicksOf(text: string): ProcessorTicks {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = text
    .slice(0, text.indexOf('\n'))
    .split(/ +/)
    .map(Number)
  return { worked: user + nice + system + irq + softirq, stolen }
}

/** Of the time in which there was work, the share in which it had no processor because another machine had it. */
export function stolenShare(before: ProcessorTicks, after: ProcessorTicks): number {
  const stolen = after.stolen - before.stolen
  const wanted = after.worked - before.worked + stolen
  return wanted > 0 ? stolen / wanted : 0
}

export interface StolenTimeWatch {
  /** Of the half minute in which most was stolen. */
  worstShare(): number
  end(): void
}

export function watchStolenTime(): StolenTimeWatch {
  let before = readProcessorTicks()
  let worst = 0
  const look = () => {
    const now = readProcessorTicks()
    worst = Math.max(worst, stolenShare(before, now))
    before = now
  }
  const looking = setInterval(look, betweenLooksMs)
  return { worstShare: () => worst, end: () => clearInterval(looking) }
}

/** Says how long it waited until less than that share was stolen; no longer than it may. */
export async function waitForCalm(mostShare: number, mostMs: number, signal: AbortSignal): Promise<number> {
  const beganAtMs = performance.now()
  for (;;) {
    const share = stolenWhileBusy()
    const waitedMs = performance.now() - beganAtMs
    if (share < mostShare || waitedMs + betweenProbesMs > mostMs || signal.aborted) return waitedMs
    await delay(betweenProbesMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Nothing is stolen from a machine that wants nothing. */
function stolenWhileBusy(): number {
  const before = readProcessorTicks()
  const untilMs = performance.now() + probeMs
  while (performance.now() < untilMs);
  return stolenShare(before, readProcessorTicks())
}
