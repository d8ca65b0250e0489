// npm run soak [-- words]: the tests that try random things, at full length, one after the other, with their figures.
// They are those that ask `test/soak.ts` how often.
import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const perTestLimitMs = 60 * 60_000
const root = join(import.meta.dirname, '..')
const words = process.argv.slice(2)

const files = globSync('{src,test}/**/*.test.ts', { cwd: root })
  .filter((file) => /from '[./]+\/soak\.ts'/.test(readFileSync(join(root, file), 'utf8')))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort()

const args = ['--test', '--test-concurrency=1', `--test-timeout=${perTestLimitMs}`, ...files]
const runner = spawn(process.execPath, args, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, SOAK: 'yes' },
})
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => runner.kill('SIGTERM'))
runner.on('exit', (code) => {
  process.exitCode = code ?? 1
})
