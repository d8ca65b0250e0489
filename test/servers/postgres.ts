import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findProgram } from './find-program.ts'
import { freePort } from './free-port.ts'
import { type GuardedProcess, portWasTaken, readLog, startGuarded, untilReady } from './guarded-process.ts'

export interface PostgresServer {
  /** For `pg`: the superuser, no password, the database `postgres`. */
  url: string
  port: number
  pid: number
  /** Ends it and deletes its data. */
  stop(): Promise<void>
  /** kill -9; the data stay for `restart`. */
  kill(): Promise<void>
  /** On the same port and data, after `kill` or in one go. */
  restart(): Promise<void>
}

export interface PostgresOptions {
  /** Off is faster; only for tests that do not ask what survives. On by default. */
  fsync?: boolean
  /** Settings as in postgresql.conf, for example `{ max_connections: '20' }`. */
  settings?: Record<string, string>
}

const run = promisify(execFile)
const templateFolder = join(import.meta.dirname, '../../node_modules/.cache/rowport-postgres')
const portAttempts = 5
const restartLimitMs = 10_000

/** Where it really is: beside it are the other programs of its version, which a link to it need not have beside it. */
export function findPostgres(): string | undefined {
  const found = findProgram(
    ['postgres'],
    [
      '/usr/lib/postgresql/*/bin/postgres',
      '/usr/pgsql-*/bin/postgres',
      '/opt/homebrew/opt/postgresql*/bin/postgres',
      '/usr/local/opt/postgresql*/bin/postgres',
      '/Applications/Postgres.app/Contents/Versions/*/bin/postgres',
    ],
  )
  return found === undefined ? undefined : realpathSync(found)
}

export async function startPostgres({
  fsync = true,
  settings = {},
}: PostgresOptions = {}): Promise<PostgresServer> {
  const program = findPostgres()
  if (!program) throw new Error('PostgreSQL is not on this machine')
  const folder = await mkdtemp(join(tmpdir(), 'rowport-postgres-'))
  const data = join(folder, 'data')
  const logFile = join(folder, 'log')
  const user = userForServer()
  const allSettings = { fsync: fsync ? 'on' : 'off', ...settings }

  async function startOn(port: number): Promise<GuardedProcess | undefined> {
    const args = ['-D', data, '-h', '127.0.0.1', '-p', `${port}`, '-k', '']
    for (const [name, value] of Object.entries(allSettings)) args.push('-c', `${name}=${value}`)
    const started = await startGuarded(program ?? '', args, {
      logFile,
      folder,
      abandonSignal: 'QUIT',
      ...(user && { user }),
    })
    return (await untilReady(started, () => isReady(data, started.pid))) ? started : undefined
  }

  async function restartOn(port: number): Promise<GuardedProcess> {
    const deadline = performance.now() + restartLimitMs
    // After kill -9 the old sessions need a moment to notice, and hold the shared memory until then.
    do {
      const again = await startOn(port)
      if (again) return again
      await sleep(100)
    } while (performance.now() < deadline)
    throw new Error(`PostgreSQL did not restart:\n${readLog(logFile)}`)
  }

  try {
    await copyTemplate(program, data)
    if (user) await giveTo(user, folder)
    for (let attempt = 1; attempt <= portAttempts; attempt++) {
      const port = await freePort()
      let server = await startOn(port)
      if (!server && portWasTaken(logFile)) continue
      if (!server) break
      return {
        url: `postgres://postgres@127.0.0.1:${port}/postgres`,
        port,
        get pid() {
          return server?.pid ?? 0
        },
        async stop() {
          await server?.end('SIGINT')
          await rm(folder, { recursive: true, force: true })
        },
        async kill() {
          await server?.end('SIGKILL')
        },
        async restart() {
          await server?.end('SIGINT')
          server = await restartOn(port)
        },
      }
    }
    throw new Error(`PostgreSQL did not start:\n${readLog(logFile)}`)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

// What pg_ctl looks at: process id in line 1, status in line 8.
function isReady(data: string, pid: number): boolean {
  const file = join(data, 'postmaster.pid')
  if (!existsSync(file)) return false
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines[0] === `${pid}` && lines[7]?.trim() === 'ready'
}

// initdb takes 0.7 s, copying what it made less than half of that.
async function copyTemplate(program: string, data: string): Promise<void> {
  const { stdout } = await run(program, ['--version'])
  const template = join(templateFolder, `data-${/\d+(\.\d+)*/.exec(stdout)?.[0]}`)
  if (!existsSync(template)) await makeTemplate(program, template)
  await run('cp', ['-R', template, data])
}

async function makeTemplate(program: string, template: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-initdb-'))
  const user = userForServer()
  try {
    if (user) await giveTo(user, folder)
    const made = join(folder, 'data')
    const args = ['-D', made, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    await run(join(dirname(program), 'initdb'), args, { cwd: folder, ...user })
    await mkdir(templateFolder, { recursive: true })
    // Beside its final place, then renamed: other test files may be making it too.
    const draft = await mkdtemp(join(templateFolder, 'draft-'))
    await run('cp', ['-R', `${made}/.`, draft])
    await rename(draft, template).catch(() => rm(draft, { recursive: true, force: true }))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function giveTo(user: { uid: number; gid: number }, folder: string): Promise<unknown> {
  return run('chown', ['-R', `${user.uid}:${user.gid}`, folder])
}

/** PostgreSQL refuses to run as root. */
function userForServer(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const name = ['postgres', 'nobody'].find((candidate) => idOf('-u', candidate) !== undefined)
  if (!name) throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody')
  return { uid: idOf('-u', name) ?? 0, gid: idOf('-g', name) ?? 0 }
}

function idOf(flag: '-u' | '-g', name: string): number | undefined {
  try {
    return Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
  } catch {
    return undefined
  }
}
