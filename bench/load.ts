import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { findProgram } from '../test/servers/find-program.ts'
import type { ForeignProgram } from '../test/servers/install-missing.ts'

/** The load generator: one thread of C, so that it is not what we measure. */
export const wrk: ForeignProgram = { name: 'wrk', find: () => findProgram(['wrk']), debianPackage: 'wrk' }

export interface Target {
  url: string
  headers: Record<string, string>
  /** The server's process, for its processor time. */
  pid: number
  /** What every answer must be; without one, a success. */
  status?: number
  /** Without a wish, 64. */
  connections?: number
}

export interface Slice {
  requestsPerSecond: number
  /** Processor time of the server for each request; it hardly minds a noisy machine. null where /proc is missing. */
  cpuMicroseconds: number | null
}

const usualConnections = 64
const serverCore = '0'
const loaderCore = '1'
/** The kernel counts processor time in ticks of 10 ms. */
const microsecondsPerTick = 10_000

/** Loads one server for a moment, on a core of its own where the machine has two. */
export async function loadSlice(
  { url, headers, pid, status = 200, connections = usualConnections }: Target,
  seconds: number,
): Promise<Slice> {
  const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const [program = '', ...args] = onCore(loaderCore, [
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout=10s',
    ...sent,
    url,
  ])
  const before = cpuTicks(pid)
  const { stdout } = await promisify(execFile)(program, args)
  const after = cpuTicks(pid)
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1])
  const requestsPerSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0)
  const isAsExpected = requests > 0 && refused === (status < 400 ? 0 : requests)
  if (!isAsExpected || stdout.includes('Socket errors'))
    throw new Error(`The load on ${url} failed: ${stdout}`)
  const cpuMicroseconds =
    before === null || after === null ? null : ((after - before) * microsecondsPerTick) / requests
  return { requestsPerSecond, cpuMicroseconds }
}

/** A command held to one core, where `taskset` can. */
export function onCore(core: string, command: string[]): string[] {
  return findProgram(['taskset']) ? ['taskset', '-c', core, ...command] : command
}

export function onServerCore(command: string[]): string[] {
  return onCore(serverCore, command)
}

/** Processor time of a process since it began, of all its threads; null where /proc is missing. */
export function cpuMsOf(pid: number): number | null {
  const ticks = cpuTicks(pid)
  return ticks === null ? null : (ticks * microsecondsPerTick) / 1_000
}

function cpuTicks(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    const [userTicks, systemTicks] = [Number(fields[11]), Number(fields[12])]
    return userTicks + systemTicks
  } catch {
    return null
  }
}
