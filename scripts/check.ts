// npm run check: everything that has to hold before a commit, the quick things first. All of it runs even when
// something fails, so that one run shows everything.
import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const bin = join(root, 'node_modules', '.bin')
const steps = [
  { name: 'type check', command: [join(bin, 'tsc'), '--noEmit'] },
  { name: 'type check of web', command: [join(bin, 'tsc'), '-p', 'web', '--noEmit'] },
  { name: 'lint and format', command: [join(bin, 'biome'), 'check', '--error-on-warnings'] },
  { name: 'tests', command: [process.execPath, join(root, 'scripts', 'test.ts')] },
]

const results: string[] = []
for (const { name, command } of steps) {
  process.stdout.write(`\n== ${name}\n`)
  const startedAt = performance.now()
  const exitCode = await run(command)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  results.push(`${exitCode === 0 ? 'ok    ' : 'FAILED'}  ${name} (${seconds} s)\n`)
  if (exitCode !== 0) process.exitCode = 1
  // Interrupted: the rest is not wanted any more.
  if (exitCode > 128) break
}
process.stdout.write(`\n== summary\n${results.join('')}`)

function run([program = '', ...args]: string[]): Promise<number> {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit' })
  // A terminal sends Ctrl-C to the child as well.
  const ignore = () => undefined
  const stop = () => child.kill('SIGTERM')
  process.on('SIGINT', ignore)
  process.on('SIGTERM', stop)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      process.off('SIGINT', ignore)
      process.off('SIGTERM', stop)
      resolve(code ?? (signal === 'SIGINT' ? 130 : 143))
    })
  })
}
