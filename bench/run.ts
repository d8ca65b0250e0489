import { parseArgs } from 'node:util'
import { installMissing } from '../test/servers/install-missing.ts'
import { admissionAlone } from './admission-alone.ts'
import { cachedList } from './cached-list.ts'
import { loadSlice, type Slice, type Target, wrk } from './load.ts'
import { refusedRows } from './refused.ts'
import type { BenchRow, LoadRow } from './row.ts'

/** npm run bench [-- --rounds 7 --seconds 2 --only cached]: the table, and a failure where a ratio is below its floor. */
const rows: readonly BenchRow[] = [cachedList, ...refusedRows, admissionAlone]

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
  },
})
const rounds = Number(values.rounds)
const sliceSeconds = Number(values.seconds)

await installMissing({
  programs: [wrk],
  install: true,
  say: (line) => process.stderr.write(`rowport: ${line}\n`),
})
if (!wrk.find()) {
  process.stderr.write('The bench needs wrk (Debian: apt-get install wrk; macOS: brew install wrk).\n')
  process.exit(1)
}
process.stdout.write(
  `${rounds} rounds of ${sliceSeconds} s each, 64 connections, Node ${process.version}\n\n`,
)
let isBelowFloor = false
for (const row of rows.filter(({ name }) => name.includes(values.only))) {
  if (row.kind === 'figure') {
    process.stdout.write(`${row.name}\n  ${await row.measure()}\n\n`)
    continue
  }
  const { subject, reference, stop } = await row.start()
  try {
    isBelowFloor = report(row, await measure(subject, reference)) || isBelowFloor
  } finally {
    await stop()
  }
}
process.exitCode = isBelowFloor ? 1 : 0

interface Round {
  subject: Slice
  reference: Slice
}

/** Both are alive all the time and take turns, first one then the other leading, so that a slow minute hits both. */
async function measure(subject: Target, reference: Target): Promise<Round[]> {
  await loadSlice(reference, sliceSeconds)
  await loadSlice(subject, sliceSeconds)
  const measured: Round[] = []
  for (let round = 0; round < rounds; round++) {
    const isSubjectFirst = round % 2 === 0
    const first = await loadSlice(isSubjectFirst ? subject : reference, sliceSeconds)
    const second = await loadSlice(isSubjectFirst ? reference : subject, sliceSeconds)
    measured.push(
      isSubjectFirst ? { subject: first, reference: second } : { subject: second, reference: first },
    )
  }
  return measured
}

function report({ name, reference, floor }: LoadRow, measured: readonly Round[]): boolean {
  const ratios = measured.map((round) => round.subject.requestsPerSecond / round.reference.requestsPerSecond)
  const ratio = median(ratios)
  const cpuRatios = measured.map(
    ({ subject, reference }) => Number(reference.cpuMicroseconds) / Number(subject.cpuMicroseconds),
  )
  const perSecond = (side: 'subject' | 'reference') =>
    median(measured.map((round) => round[side].requestsPerSecond))
  const cpu = (side: 'subject' | 'reference') =>
    median(measured.map((round) => Number(round[side].cpuMicroseconds)))
  const isBelow = ratio < floor
  process.stdout.write(
    [
      name,
      `  ratio        ${ratio.toFixed(2)} of ${reference}${floorNote(floor, isBelow)}`,
      `  each round   ${ratios.map((each) => each.toFixed(2)).join(' ')}`,
      `  per second   ${perSecond('subject').toFixed(0)} against ${perSecond('reference').toFixed(0)}`,
      `  processor    ${cpu('subject').toFixed(1)} µs a request against ${cpu('reference').toFixed(1)} µs, ratio ${median(cpuRatios).toFixed(2)}`,
      '',
      '',
    ].join('\n'),
  )
  return isBelow
}

function floorNote(floor: number, isBelow: boolean): string {
  if (floor === 0) return ''
  return `   (floor ${floor.toFixed(2)}${isBelow ? ': MISSED' : ''})`
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN
}
