import { parseArgs } from 'node:util'
import { installMissing } from '../test/servers/install-missing.ts'
import { admissionAlone } from './admission-alone.ts'
import { besidePeers } from './beside-peers.ts'
import { snapshotBuilding } from './building-snapshot.ts'
import { cachedLists } from './cached-list.ts'
import { comparedRows, loggedAdditions } from './change-log.ts'
import { googleChanges } from './google-changes.ts'
import { googleColdLoad } from './google-cold-load.ts'
import { googleWrites } from './google-writes.ts'
import { loadSlice, type Slice, type Target, wrk } from './load.ts'
import { namedRow, upsertAtGoogle } from './named-rows.ts'
import { pageKeys } from './page-keys.ts'
import { queriedList } from './queried-list.ts'
import { queryFigures } from './query.ts'
import { refusedRows } from './refused.ts'
import { type BenchRow, type LoadRow, Missed, median } from './row.ts'
import { sharedStoreRows } from './shared-store.ts'
import { steadyReading } from './steady-reading.ts'
import { streams } from './streams.ts'
import { fileAdditions, workbookAdditions } from './writing-files.ts'

/** npm run bench [-- --rounds 7 --seconds 2 --only cached]: the table, and a failure where a figure misses its bound. */
const rows: readonly BenchRow[] = [
  ...cachedLists,
  pageKeys,
  queriedList,
  namedRow,
  queryFigures,
  snapshotBuilding,
  ...besidePeers,
  googleColdLoad,
  ...steadyReading,
  ...refusedRows,
  admissionAlone,
  googleWrites,
  ...googleChanges,
  upsertAtGoogle,
  fileAdditions,
  workbookAdditions,
  loggedAdditions,
  comparedRows,
  streams,
  ...sharedStoreRows,
]

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
let isMissed = false
for (const row of rows.filter(({ name }) => name.includes(values.only))) {
  try {
    process.stdout.write(`${row.name}\n  ${await (row.kind === 'figure' ? row.measure() : compare(row))}\n\n`)
  } catch (error) {
    isMissed = true
    const said =
      error instanceof Missed ? `MISSED\n  ${error.message}` : `FAILED\n  ${(error as Error).stack}`
    process.stdout.write(`${row.name}: ${said}\n\n`)
  }
}
process.exitCode = isMissed ? 1 : 0

async function compare(row: LoadRow): Promise<string> {
  const { subject, reference, stop } = await row.start()
  try {
    return report(row, await measure(subject, reference))
  } finally {
    await stop()
  }
}

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

function report({ reference, floor }: LoadRow, measured: readonly Round[]): string {
  const ratios = measured.map((round) => round.subject.requestsPerSecond / round.reference.requestsPerSecond)
  const ratio = median(ratios)
  const cpuRatios = measured.map(
    ({ subject, reference }) => Number(reference.cpuMicroseconds) / Number(subject.cpuMicroseconds),
  )
  const perSecond = (side: 'subject' | 'reference') =>
    median(measured.map((round) => round[side].requestsPerSecond))
  const cpu = (side: 'subject' | 'reference') =>
    median(measured.map((round) => Number(round[side].cpuMicroseconds)))
  const figures = [
    `ratio        ${ratio.toFixed(2)} of ${reference}${floor === 0 ? '' : `   (floor ${floor.toFixed(2)})`}`,
    `each round   ${ratios.map((each) => each.toFixed(2)).join(' ')}`,
    `per second   ${perSecond('subject').toFixed(0)} against ${perSecond('reference').toFixed(0)}`,
    `processor    ${cpu('subject').toFixed(1)} µs a request against ${cpu('reference').toFixed(1)} µs, ratio ${median(cpuRatios).toFixed(2)}`,
  ].join('\n  ')
  if (ratio < floor) throw new Missed(figures)
  return figures
}
