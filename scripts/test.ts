// npm test: the quick tests (scripts/test-tiers.ts). `--all` (npm run test:all): all of them. With words: the test files of
// either kind whose path contains one. Other flags go to `node --test`. `--no-install` leaves missing servers missing.
import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { installMissing, testServers } from '../test/servers/install-missing.ts'
import { readProcessorTicks, stolenShare, waitForCalm, watchStolenTime } from './stolen-time.ts'
import report from './test-reporter.ts'
import { hasSecondChance, inDozens, inOrder, isMeasuring, isQuick, isWaiting } from './test-tiers.ts'

const perTestLimitMs = 60_000
/** Why the runner calls a test failed that was stopped by its limit, and those that hold it. */
const endings = new Set(['testTimeoutFailure', 'cancelledByParent', 'subtestsFailed'])
// A test file that leaves something open never ends; when the runner is stopped, it names the file.
const runLimitMs = 4_200_000
/** While its host gives more than this of a machine's processors to others, a measurement tells what those others do. */
const calmShare = 0.1
/** When they take more than this for half a minute, a test may come to its limit that takes a third of it. */
const crowdedShare = 0.3
/** What all waiting for a calm machine may take of a run. */
const mostCalmMs = 900_000
const measuringTries = 3
/** More than these is no accident. Those that measure follow each other, so a machine that is busy for some minutes meets several. */
const secondChances = 6
const root = join(import.meta.dirname, '..')

const given = process.argv.slice(2)
const words = given.filter((argument) => !argument.startsWith('-'))
const ours = ['--all', '--no-install']
const flags = given.filter((argument) => argument.startsWith('-') && !ours.includes(argument))
const isMeant = (file: string) =>
  words.length === 0 ? given.includes('--all') || isQuick(file) : words.some((word) => file.includes(word))

const files = inOrder(
  globSync('{src,test,scripts,bench,emulator}/**/*.test.ts', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  }).filter(isMeant),
)
// One more than the cores: many of them wait for servers, windows, leases and pages; with two more the processors are the bound.
const concurrency = availableParallelism() + 1
// Beside those. Each of them takes a tenth of a core.
const waitingAtOnce = 2 * availableParallelism()
// Every test file loads much of the source, and stripping its types each time is a third of their work.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/rowport-compiled')
// The quick tests make hundreds of little stores, and sync each: a sixth of their time. All the others have a disk, as production has.
const inMemory = '/dev/shm'
const isMemoryUsed = process.env.TMPDIR === undefined && hasRoom(inMemory)
if (files.every(isQuick) && isMemoryUsed) process.env.TMPDIR = inMemory

// `sized` (test/soak.ts) goes by it.
if (words.length === 0 && !given.includes('--all')) process.env.ROWPORT_TESTS = 'quick'

if (files.length === 0) {
  process.stderr.write(`No test file's path contains ${words.join(' or ')}.\n`)
  process.exitCode = 1
} else {
  await installMissing({
    programs: files.every(isQuick) ? [] : testServers,
    install: !given.includes('--no-install'),
    // Four fifths of the work of tests in a browser are the browser's; for a file or two it is nothing to wait for.
    isBestWanted: given.includes('--all'),
    say: (line) => process.stderr.write(`rowport: ${line}\n`),
  })
  if (flags.length === 0) await runInOrder()
  else runWithFlags()
}

/** `node --test` sorts its files by name, so this is what it does, with ours. */
async function runInOrder(): Promise<void> {
  const stopping = new AbortController()
  const underWay = new Set<string>()
  const stop = (reason: string, code: number) => {
    const names = [...underWay].map((file) => relative(root, file)).join(', ')
    process.stderr.write(`rowport: the tests were stopped ${reason}, at ${names}\n`)
    process.exitCode = code
    stopping.abort()
  }
  const runLimit = setTimeout(() => stop(`after ${runLimitMs / 1000} s`, 1), runLimitMs)
  process.once('SIGINT', () => stop('by hand', 130))
  process.once('SIGTERM', () => stop('by SIGTERM', 143))
  process.once('SIGHUP', () => stop('by SIGHUP', 143))
  const tookMs = new Map<string, number>()
  /** Files of which tests were stopped by their limit, and nothing else was wrong. */
  const late = new Set<string>()
  /** The files with a test that failed. */
  const runFiles = async (
    some: readonly string[],
    atOnce: number,
    print: (text: string) => void = (text) => process.stdout.write(text),
  ): Promise<string[]> => {
    if (some.length === 0 || stopping.signal.aborted) return []
    const failed = new Set<string>()
    const wrong = new Set<string>()
    let isWhole = false
    const events = run({
      files: some,
      cwd: root,
      concurrency: atOnce,
      timeout: perTestLimitMs,
      signal: stopping.signal,
    })
    // The runner reports a file as it reports a test.
    events.on('test:dequeue', ({ name, file }) => name === file && underWay.add(name))
    events.on('test:complete', ({ name, file, details }) => {
      if (name !== file || !underWay.delete(name)) return
      tookMs.set(relative(root, name), details.duration_ms)
    })
    events.on('test:fail', ({ name, file = name, details: { error } }) => {
      const path = relative(root, file)
      failed.add(path)
      if (!('failureType' in error && endings.has(String(error.failureType)))) wrong.add(path)
      if (wrong.has(path)) late.delete(path)
      else late.add(path)
    })
    events.on('test:summary', ({ success, file }) => {
      if (file === undefined) isWhole = success
    })
    for await (const text of report(events)) print(text)
    // A run that failed without a test of its own that did is nothing to try again.
    return failed.size > 0 || isWhole ? [...failed] : ['']
  }
  // Who names files sees them one by one, and waits for the result.
  let calmMsLeft = words.length === 0 ? mostCalmMs : 0
  const together = files.filter((file) => !isMeasuring(file))
  const alone = files.filter(isMeasuring).map(inRoot)
  const watch = watchStolenTime()
  const failed =
    words.length === 0 ? await runInTwoLanes() : await runFiles(together.map(inRoot), concurrency)
  watch.end()
  if (together.length > 0 && alone.length > 0)
    process.stdout.write(`rowport: ${alone.length} test files that measure follow, one at a time\n`)
  for (const file of alone) failed.push(...(await measure(file)))
  if (failed.length > 0 && (words.length > 0 || !(await passAlone(failed)))) process.exitCode ||= 1
  clearTimeout(runLimit)
  if (given.includes('--all')) process.stdout.write(`rowport: took longest: ${slowest(tookMs)}\n`)

  /** What may fail once because of others who share the host is measured again when it did, and they took much meanwhile. */
  async function measure(file: string): Promise<string[]> {
    for (let tries = 1; ; tries++) {
      await comeToRest()
      const before = readProcessorTicks()
      const failed = await runFiles([file], 1)
      const share = stolenShare(before, readProcessorTicks())
      if (failed.length === 0 || share < calmShare || tries === measuringTries) return failed
      if (!failed.every(hasSecondChance)) return failed
      process.stdout.write(
        `rowport: ${failed.join(', ')} failed while ${percent(share)} of the processors went to other machines; measured again\n`,
      )
    }
  }

  async function comeToRest(): Promise<void> {
    if (calmMsLeft <= 0) return
    const waitedMs = await waitForCalm(calmShare, calmMsLeft, stopping.signal)
    if (waitedMs < 5_000) return
    calmMsLeft -= waitedMs
    process.stdout.write(
      `rowport: waited ${Math.round(waitedMs / 1_000)} s for other machines to leave the processors\n`,
    )
  }

  /** What waits is told after the rest, so that their reports do not mix. Who names files has no use for it, and sees them one by one. */
  async function runInTwoLanes(): Promise<string[]> {
    const waiting = together.filter(isWaiting)
    const held: string[] = []
    const failed = await Promise.all([
      runFiles(filesOfDozens(together.filter((file) => !isWaiting(file))), concurrency),
      runFiles(waiting.map(inRoot), waitingAtOnce, (text) => held.push(text)),
    ])
    if (waiting.length > 0)
      process.stdout.write(`rowport: beside these ran ${waiting.length} test files that mostly wait\n`)
    process.stdout.write(held.join(''))
    return failed.flat()
  }

  /** A page that three other test files leave no processor can be too late for what waits for it, and a machine can be busy for a minute. */
  async function passAlone(files: readonly string[]): Promise<boolean> {
    const stolen = watch.worstShare()
    // A test that came to no end has shown nothing lost or doubled; without processors that is no wonder.
    const wasLate = (file: string) => stolen >= crowdedShare && late.has(file)
    if (files.length > secondChances) return false
    if (!files.every((file) => hasSecondChance(file) || wasLate(file))) return false
    process.stdout.write(`rowport: failed, and follow once more alone: ${files.join(', ')}\n`)
    await comeToRest()
    const again = await runFiles(files.map(inRoot), 1)
    if (again.length > 0 || stopping.signal.aborted) return false
    process.stdout.write(
      `rowport: UNSTEADY, failed and passed a second time alone: ${files.join(', ')} (up to ${percent(stolen)} of the processors went to other machines)\n`,
    )
    return true
  }
}

function inRoot(file: string): string {
  return join(root, file)
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function slowest(tookMs: ReadonlyMap<string, number>): string {
  return [...tookMs]
    .sort(([, one], [, other]) => other - one)
    .slice(0, 20)
    .map(([file, ms]) => `${file} ${Math.round(ms / 1_000)} s`)
    .join(', ')
}

/** A container has 64 MB there. */
function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > 1e9
}

/** A dozen is a file that imports the dozen, in a folder of this run's own. */
function filesOfDozens(some: readonly string[]): string[] {
  const folder = join(root, 'node_modules/.cache/rowport-dozens', String(process.pid))
  mkdirSync(folder, { recursive: true })
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  // Only quick files come by the dozen; beside them run files that are to have a disk.
  const beginning = join(folder, 'in-memory.mjs')
  writeFileSync(beginning, `process.env.TMPDIR = ${JSON.stringify(inMemory)}\n`)
  return inDozens(some).map(([first = '', ...others]) => {
    if (others.length === 0) return join(root, first)
    const path = join(folder, `${first.replaceAll('/', '-')}-and-${others.length}-more.mjs`)
    const imported = [...(isMemoryUsed ? [beginning] : []), ...[first, ...others].map(inRoot)]
    writeFileSync(path, imported.map((file) => `import ${JSON.stringify(file)}\n`).join(''))
    return path
  })
}

function runWithFlags(): void {
  const args = ['--test', `--test-concurrency=${concurrency}`, `--test-timeout=${perTestLimitMs}`]
  if (!flags.some((flag) => flag.startsWith('--test-reporter'))) {
    args.push(`--test-reporter=${join(import.meta.dirname, 'test-reporter.ts')}`)
    args.push('--test-reporter-destination=stdout')
  }
  const runner = spawn(process.execPath, [...args, ...flags, ...files], {
    cwd: root,
    stdio: 'inherit',
  })
  const runLimit = setTimeout(() => {
    process.stderr.write(`rowport: the tests were stopped after ${runLimitMs / 1000} s\n`)
    runner.kill('SIGTERM')
  }, runLimitMs)
  // Ctrl-C in a terminal reaches the runner as well; it ends the test files, then itself.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => runner.kill('SIGTERM'))
  process.on('SIGHUP', () => runner.kill('SIGTERM'))
  runner.on('exit', (code, signal) => {
    clearTimeout(runLimit)
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143)
  })
}
