import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findProgram } from '../test/servers/find-program.ts'
import type { ForeignProgram } from '../test/servers/install-missing.ts'
import { processorMs } from './process-figures.ts'

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
export const loaderCore = '1'

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
  const before = processorMs(pid)
  const { stdout } = await promisify(execFile)(program, args)
  const after = processorMs(pid)
  const requests = requestsIn(stdout)
  const requestsPerSecond = perSecondIn(stdout)
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0)
  const isAsExpected = requests > 0 && refused === (status < 400 ? 0 : requests)
  if (!isAsExpected || stdout.includes('Socket errors'))
    throw new Error(`The load on ${url} failed: ${stdout}`)
  const cpuMicroseconds = Number.isNaN(after) ? null : ((after - before) * 1_000) / requests
  return { requestsPerSecond, cpuMicroseconds }
}

/** Of what `wrk` printed, as those below. */
export function requestsIn(printed: string): number {
  return Number(/(\d+) requests in/.exec(printed)?.[1])
}

export function perSecondIn(printed: string): number {
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(printed)?.[1])
}

const msOf: Record<string, number> = { us: 0.001, ms: 1, s: 1_000, m: 60_000 }

/** Where it ran with `--latency`. */
export function latencyMsIn(printed: string, percent: number): number {
  const [, figure = '', unit = ''] =
    new RegExp(`\\b${percent}%\\s+([\\d.]+)(us|ms|s|m)\\b`).exec(printed) ?? []
  return Number(figure) * (msOf[unit] ?? Number.NaN)
}

/** A command held to one core, where `taskset` can. */
export function onCore(core: string, command: string[]): string[] {
  return findProgram(['taskset']) ? ['taskset', '-c', core, ...command] : command
}

export function onServerCore(command: string[]): string[] {
  return onCore(serverCore, command)
}
