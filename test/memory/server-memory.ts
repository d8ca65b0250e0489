import { readdirSync, readFileSync } from 'node:fs'

/** What the process of a server holds at one moment. */
export interface MemorySample {
  /** Since the traffic began. */
  atMs: number
  residentMb: number
  heapUsedMb: number
  /** Buffers outside of V8's heap among them. */
  externalMb: number
  threads: number
  descriptors: number
}

const bytesInMb = 2 ** 20
const kilobytesInMb = 1_024
const minuteMs = 60_000

/** From outside, by Linux and by `/metrics`: what is measured is the server as it is run. */
export async function sampleMemory(pid: number, url: string, atMs: number): Promise<MemorySample> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const inStatus = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])
  const inMetrics = (name: string) => Number(new RegExp(`^rowport_${name} (\\S+)`, 'm').exec(metrics)?.[1])
  return {
    atMs,
    residentMb: inStatus('VmRSS') / kilobytesInMb,
    heapUsedMb: inMetrics('nodejs_heap_size_used_bytes') / bytesInMb,
    externalMb: inMetrics('nodejs_external_memory_bytes') / bytesInMb,
    threads: inStatus('Threads'),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  }
}

/** A line of means for each span, as a table. */
export function curveOf(samples: readonly MemorySample[], spanMs: number): string {
  const spans = Map.groupBy(samples, ({ atMs }) => Math.floor(atMs / spanMs))
  const lines = [...spans].map(([at, inSpan]) => {
    const mean = (figure: (sample: MemorySample) => number) =>
      (inSpan.reduce((sum, sample) => sum + figure(sample), 0) / inSpan.length).toFixed(1)
    const until = (((at + 1) * spanMs) / minuteMs).toFixed(1)
    return (
      `to minute ${until}: resident ${mean((sample) => sample.residentMb)} MB, ` +
      `heap ${mean((sample) => sample.heapUsedMb)}, external ${mean((sample) => sample.externalMb)}, ` +
      `threads ${mean((sample) => sample.threads)}, descriptors ${mean((sample) => sample.descriptors)}`
    )
  })
  return `${lines.join('\n')}\n`
}

/**
 * How fast resident memory grows, as the median slope between any two minutes (Theil and Sen): single bad minutes do not
 * count. Each minute stands for its lowest sample, because what lies above it is garbage that waits for its collection.
 */
export function growthMbPerTenMinutes(samples: readonly MemorySample[]): number {
  const minutes = Map.groupBy(samples, ({ atMs }) => Math.floor(atMs / minuteMs))
  const floors = [...minutes].map(([minute, within]) => ({
    minute,
    mb: Math.min(...within.map(({ residentMb }) => residentMb)),
  }))
  const slopes = floors.flatMap((one, at) =>
    floors.slice(at + 1).map((other) => (other.mb - one.mb) / (other.minute - one.minute)),
  )
  slopes.sort((one, other) => one - other)
  const middle = slopes.length / 2
  const median = ((slopes[Math.ceil(middle) - 1] ?? 0) + (slopes[Math.floor(middle)] ?? 0)) / 2
  return median * 10
}
