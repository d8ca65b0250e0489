import { readdirSync, readFileSync } from 'node:fs'

/** The kernel counts processor time in ticks of 10 ms. */
const msPerTick = 10

/** Processor time of all its threads so far; NaN where /proc is missing, or the process is gone. */
export function processorMs(pid: number): number {
  const fields = statOf(pid)
  return (Number(fields[11]) + Number(fields[12])) * msPerTick
}

/**
 * How long its threads could have run and had no processor, all of them together: nothing on a quiet machine. NaN where /proc is
 * missing.
 */
export function waitedForProcessorMs(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const waitedNs = threads.map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[1]),
    )
    return waitedNs.reduce((sum, ns) => sum + ns, 0) / 1_000_000
  } catch {
    return Number.NaN
  }
}

/** Its own, and that of the processes that it started, ended ones too. */
export function processorMsOfFamily(pid: number): number {
  const ended = statOf(pid)
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && statOf(Number(name))[1] === `${pid}`,
  )
  const ofChildren = children.map((child) => processorMs(Number(child)) || 0)
  return [processorMs(pid), (Number(ended[13]) + Number(ended[14])) * msPerTick, ...ofChildren].reduce(
    (sum, ms) => sum + ms,
    0,
  )
}

export function residentBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1024
  } catch {
    return Number.NaN
  }
}

/** What comes behind its name, which may have spaces: the state, the parent, and so on. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
