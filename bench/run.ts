import { parseArgs } from 'node:util'
import { installMissing } from '../test/servers/install-missing.ts'
import { admissionAlone } from './admission-alone.ts'
import { besidePeers } from './beside-peers.ts'
import { besideSearches } from './beside-searches.ts'
import { snapshotBuilding } from './building-snapshot.ts'
import { cachedLists } from './cached-list.ts'
import { comparedRows, loggedAdditions } from './change-log.ts'
import { recordFigures } from './figures.ts'
import { atLeast } from './floored.ts'
import { googleChanges } from './google-changes.ts'
import { googleColdLoad } from './google-cold-load.ts'
import { googleWrites } from './google-writes.ts'
import { loadSlice, type Slice, type Target, wrk } from './load.ts'
import { memory } from './memory.ts'
import { namedRow, upsertAtGoogle } from './named-rows.ts'
import { pageKeys } from './page-keys.ts'
import { queriedList } from './queried-list.ts'
import { queryFigures } from './query.ts'
import { refusedRows } from './refused.ts'
import { type BenchRow, type LoadRow, type Measured, median } from './row.ts'
import { sharedStoreRows } from './shared-store.ts'
import { steadyReading } from './steady-reading.ts'
import { streams } from './streams.ts'
import { isAllReached, noFloor, type Outcome, summaryOf } from './summary.ts'
import { fileAdditions, workbookAdditions } from './writing-files.ts'

/**
 * npm run bench [-- --rounds 7 --seconds 2 --only cached --record]: the figures, a table of those with a floor, and a failure where one
 * misses it. `--record` puts what was measured into RESULTS.md.
 */
const rows: readonly BenchRow[] = [
  ...cachedLists,
  pageKeys,
  queriedList,
  besideSearches,
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
  memory,
]

const elsewhere = `Measured by commands of their own:
  npm run soak -- memory/memory    whether memory stays flat over 40 minutes (at most 1 MB more in ten of them)
  npm run bench:growth             what grows with rows, columns, sheets, accounts, connections, writers and streams
  npm run bench:first-minute       from an empty folder to the first answer`

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    record: { type: 'boolean', default: false },
  },
})
const asked = rows.filter(({ name }) => name.includes(values.only))
if (asked.length === 0) {
  const names = rows.map(({ name }) => `  ${name}\n`).join('')
  process.stderr.write(`No row of the bench has "${values.only}" in its name. There are:\n${names}`)
  process.exit(1)
}
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
const outcomes: Outcome[] = []
for (const row of asked) outcomes.push(await measureRow(row))
process.stdout.write(`${summaryOf(outcomes)}\n\n${elsewhere}\n`)
if (values.record)
  recordFigures(
    outcomes,
    rows.map(({ name }) => name),
  )
process.exitCode = isAllReached(outcomes) ? 0 : 1

async function measureRow(row: BenchRow): Promise<Outcome> {
  if (row.missing && row.missing.length > 0) {
    const why = `${row.missing.join(' and ')} cannot be found here`
    process.stdout.write(`${row.name}: SKIPPED, ${why}\n\n`)
    return { row: row.name, became: 'skipped', why }
  }
  try {
    const { said, floored } = await (row.kind === 'figure' ? row.measure() : compare(row))
    const isMissed = floored.some(({ isReached }) => !isReached)
    const floors =
      floored.length === 0
        ? [noFloor]
        : floored.map(
            ({ name, figure, floor, isReached }) =>
              `${isReached ? 'reached' : 'MISSED '}  ${name}: ${figure}   (${floor})`,
          )
    process.stdout.write(`${row.name}${isMissed ? ': MISSED' : ''}\n  ${[said, ...floors].join('\n  ')}\n\n`)
    return { row: row.name, became: 'measured', said, floored }
  } catch (error) {
    process.stdout.write(`${row.name}: FAILED\n  ${(error as Error).stack}\n\n`)
    return { row: row.name, became: 'failed', why: (error as Error).message.split('\n', 1)[0] ?? '' }
  }
}

async function compare(row: LoadRow): Promise<Measured> {
  const { subject, reference, stop } = await row.start()
  try {
    return report(row, await takeTurns(subject, reference))
  } finally {
    await stop()
  }
}

interface Round {
  subject: Slice
  reference: Slice
}

/** Both are alive all the time and take turns, first one then the other leading, so that a slow minute hits both. */
async function takeTurns(subject: Target, reference: Target): Promise<Round[]> {
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

function report({ reference, floor }: LoadRow, measured: readonly Round[]): Measured {
  const ratios = measured.map((round) => round.subject.requestsPerSecond / round.reference.requestsPerSecond)
  const ratio = median(ratios)
  const cpuRatios = measured.map(
    ({ subject, reference }) => Number(reference.cpuMicroseconds) / Number(subject.cpuMicroseconds),
  )
  const perSecond = (side: 'subject' | 'reference') =>
    median(measured.map((round) => round[side].requestsPerSecond))
  const cpu = (side: 'subject' | 'reference') =>
    median(measured.map((round) => Number(round[side].cpuMicroseconds)))
  const said = [
    `ratio        ${ratio.toFixed(2)} of ${reference}`,
    `each round   ${ratios.map((each) => each.toFixed(2)).join(' ')}`,
    `per second   ${perSecond('subject').toFixed(0)} against ${perSecond('reference').toFixed(0)}`,
    `processor    ${cpu('subject').toFixed(1)} µs a request against ${cpu('reference').toFixed(1)} µs, ratio ${median(cpuRatios).toFixed(2)}`,
  ].join('\n  ')
  return { said, floored: floor === 0 ? [] : [atLeast(`of ${reference}`, ratio, floor)] }
}
