// npm test [-- words and flags]: the test files whose path contains one of the words (all without), flags go
// to `node --test`. `--no-install` leaves missing servers missing.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { installMissing, testServers } from '../test/servers/install-missing.ts'

const perTestLimitMs = 60_000
// A test file that leaves something open never ends; when the runner is stopped, it names the file.
const runLimitMs = 900_000
const root = join(import.meta.dirname, '..')

const given = process.argv.slice(2)
const words = given.filter((argument) => !argument.startsWith('-'))
const flags = given.filter((argument) => argument.startsWith('-') && argument !== '--no-install')

const files = globSync('{src,test,scripts,bench,emulator}/**/*.test.ts', {
  cwd: root,
  exclude: ['**/node_modules/**'],
})
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort()

if (files.length === 0) {
  process.stderr.write(`No test file's path contains ${words.join(' or ')}.\n`)
  process.exitCode = 1
} else {
  await installMissing({
    programs: testServers,
    install: !given.includes('--no-install'),
    say: (line) => process.stderr.write(`rowport: ${line}\n`),
  })
  runTests()
}

function runTests(): void {
  const args = [
    '--test',
    // One more than the cores: many of them wait for servers, windows and leases most of the time.
    `--test-concurrency=${availableParallelism() + 1}`,
    `--test-timeout=${perTestLimitMs}`,
  ]
  if (!flags.some((flag) => flag.startsWith('--test-reporter'))) {
    args.push(`--test-reporter=${join(import.meta.dirname, 'test-reporter.ts')}`)
    args.push('--test-reporter-destination=stdout')
  }
  const runner = spawn(process.execPath, [...args, ...flags, ...files], {
    cwd: root,
    stdio: 'inherit',
    // Every test file loads much of the source, and stripping its types each time is a third of their work.
    env: { ...process.env, NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/rowport-compiled') },
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
