import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findCaddy } from './caddy.ts'
import { findChromium, findHeadlessShell } from './chromium.ts'
import { findProgram } from './find-program.ts'
import { findNginx } from './nginx.ts'
import { findPostgres } from './postgres.ts'
import { findRedis } from './redis.ts'

/** A program that is not ours, and the Debian package that brings it. */
export interface ForeignProgram {
  name: string
  find(): string | undefined
  /** Of several that do, the one that the package brings. */
  findBest?(): string | undefined
  debianPackage: string
}

export const testServers: readonly ForeignProgram[] = [
  { name: 'PostgreSQL', find: findPostgres, debianPackage: 'postgresql' },
  { name: 'Redis', find: findRedis, debianPackage: 'redis-server' },
  { name: 'nginx', find: findNginx, debianPackage: 'nginx' },
  { name: 'Caddy', find: findCaddy, debianPackage: 'caddy' },
  {
    name: 'Chromium',
    find: findChromium,
    findBest: findHeadlessShell,
    debianPackage: 'chromium-headless-shell',
  },
]

const updateLimitMs = 60_000
const installLimitMs = 180_000
const signOfLifeMs = 10_000

interface InstallOptions {
  programs: readonly ForeignProgram[]
  install: boolean
  /** Whether the best of several is installed though there is another. */
  isBestWanted?: boolean
  say: (line: string) => void
}

/**
 * Installs what the machine lacks, where that can be done without asking: Debian, as root. Failing is fine: what
 * needs it skips itself.
 */
export async function installMissing({
  programs,
  install,
  isBestWanted = false,
  say,
}: InstallOptions): Promise<void> {
  const missing = programs.filter((program) => !program.find())
  const isBestMissing = ({ findBest }: ForeignProgram) =>
    isBestWanted && findBest !== undefined && !findBest()
  const wanted = programs.filter((program) => missing.includes(program) || isBestMissing(program))
  const canInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version') && findProgram(['apt-get'])
  if (wanted.length === 0) return
  if (!install || !canInstall) {
    if (missing.length === 0) return
    say(`not on this machine: ${missing.map(({ name }) => name).join(', ')}; what needs them is skipped`)
    return
  }
  await step('fetching the list of Debian packages', ['update'], updateLimitMs, say)
  for (const { name, debianPackage } of wanted) {
    const args = ['install', '--yes', '--no-install-recommends', debianPackage]
    await step(`installing ${name} (package ${debianPackage})`, args, installLimitMs, say)
  }
}

async function step(
  title: string,
  args: string[],
  limitMs: number,
  say: (line: string) => void,
): Promise<void> {
  const startedAt = performance.now()
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(1)
  say(`${title} …`)
  const signOfLife = setInterval(() => say(`still at it, ${seconds()} s`), signOfLifeMs)
  const problem = await aptGet(args, limitMs)
  clearInterval(signOfLife)
  say(problem === undefined ? `done in ${seconds()} s` : `failed after ${seconds()} s: ${problem}`)
}

/** What went wrong, or undefined. */
function aptGet(args: string[], limitMs: number): Promise<string | undefined> {
  const patience = [
    '-o',
    'DPkg::Lock::Timeout=60',
    '-o',
    'Acquire::Retries=1',
    '-o',
    'Acquire::http::Timeout=20',
  ]
  // Run level 1: packages do not start their own servers.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const child = spawn('apt-get', ['-qq', ...patience, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: limitMs,
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(undefined)
      const lines = errors.split('\n').filter((line) => line.startsWith('E:'))
      resolve(lines.at(-1) ?? `apt-get ended with ${code ?? signal}`)
    })
  })
}
