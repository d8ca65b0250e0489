// npm run bring-back [-- numbers]: takes the mends of defects (test/browser/mended-defects.ts) away, one at a time and in a copy, and
// shows that the test of each fails then, and of what. `ROWPORT_COPIES`: how many at once. All of them take half an hour.
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Hold, mendedDefects } from '../test/browser/mended-defects.ts'

const root = join(import.meta.dirname, '..')
const longestRunMs = 240_000
const copies = Number(process.env.ROWPORT_COPIES ?? 2)
const wanted = process.argv.slice(2).map(Number)

interface Trial extends Hold {
  number: number
}

const trials: Trial[] = mendedDefects
  .filter(({ number }) => wanted.length === 0 || wanted.includes(number))
  .flatMap(({ number, heldBy }) => heldBy.map((hold) => ({ number, ...hold })))
const count = trials.length
let unheld = 0
await Promise.all(Array.from({ length: Math.min(copies, count) }, workThrough))
process.stdout.write(`${count - unheld} of ${count} failed as they should\n`)
if (unheld > 0 || count === 0) process.exitCode = 1

async function workThrough(): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), 'rowport-without-'))
  try {
    copyProject(copy)
    for (let trial = trials.shift(); trial; trial = trials.shift()) {
      const outcome = await tryWithout(copy, trial)
      if (outcome !== null) unheld++
      const { number, mend, test } = trial
      process.stdout.write(
        outcome === null
          ? `${number}: fails without ${mend[0]}: ${trial.tells}\n`
          : `${number}: NOT HELD without ${mend[0]}: ${mend[1]}\n  by “${test[1]}”: ${outcome}\n`,
      )
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** As it lies here, also what is not committed. */
function copyProject(copy: string): void {
  const listing = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '-z']
  for (const file of execFileSync('git', listing, { cwd: root, encoding: 'utf8' }).split('\0')) {
    if (file === '') continue
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file))
  }
  cpSync(join(root, 'web/dist'), join(copy, 'web/dist'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
}

/** null where the test fails of what it should. */
async function tryWithout(copy: string, { test: [file, title], mend, tells }: Trial): Promise<string | null> {
  const [path, code, without] = mend
  const mended = readFileSync(join(copy, path), 'utf8')
  if (mended.split(code).length !== 2) return 'the mend is not there, or more than once'
  writeFileSync(
    join(copy, path),
    mended.replace(code, () => without),
  )
  try {
    const built = await run(copy, ['scripts/set-up.mjs'])
    if (built.exitCode !== 0) return built.told
    const pattern = `^${title.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$`
    const { exitCode, told } = await run(copy, ['--test', `--test-name-pattern=${pattern}`, file])
    if (exitCode === 0) return 'it passes'
    return told.includes(tells) ? null : `it fails of something else:\n${told.slice(0, 3_000)}`
  } finally {
    writeFileSync(join(copy, path), mended)
  }
}

function run(copy: string, args: readonly string[]): Promise<{ exitCode: number | null; told: string }> {
  // The dashboard is built for scripts that show it (scripts/set-up/build-web.mjs).
  const env = { ...process.env, npm_lifecycle_event: 'test' }
  const program = spawn(process.execPath, args, { cwd: copy, env, timeout: longestRunMs })
  let told = ''
  for (const stream of [program.stdout, program.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      told += text
    })
  return new Promise((resolve) => program.on('close', (exitCode) => resolve({ exitCode, told })))
}
