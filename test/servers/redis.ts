import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from './find-program.ts'
import { freePort } from './free-port.ts'
import { type GuardedProcess, portWasTaken, readLog, startGuarded, untilReady } from './guarded-process.ts'

export interface RedisServer {
  url: string
  port: number
  pid: number
  stop(): Promise<void>
  /** kill -9. */
  kill(): Promise<void>
  /** On the same port, after `kill` or in one go; it starts empty, as nothing is saved. */
  restart(): Promise<void>
}

const portAttempts = 5

export function findRedis(): string | undefined {
  return findProgram(
    ['redis-server', 'valkey-server'],
    ['/opt/homebrew/bin/redis-server', '/usr/local/bin/redis-server'],
  )
}

export async function startRedis(): Promise<RedisServer> {
  const program = findRedis()
  if (!program) throw new Error('Redis is not on this machine')
  const folder = await mkdtemp(join(tmpdir(), 'rowport-redis-'))
  const logFile = join(folder, 'log')

  async function startOn(port: number): Promise<GuardedProcess | undefined> {
    const args = [
      '--port',
      `${port}`,
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      folder,
    ]
    const started = await startGuarded(program ?? '', args, { logFile, folder, abandonSignal: 'TERM' })
    return (await untilReady(started, () => isReady(port, started.pid))) ? started : undefined
  }

  for (let attempt = 1; attempt <= portAttempts; attempt++) {
    const port = await freePort()
    let server = await startOn(port)
    if (!server && portWasTaken(logFile)) continue
    if (!server) break
    return {
      url: `redis://127.0.0.1:${port}`,
      port,
      get pid() {
        return server?.pid ?? 0
      },
      async stop() {
        await server?.end('SIGTERM')
        await rm(folder, { recursive: true, force: true })
      },
      async kill() {
        await server?.end('SIGKILL')
      },
      async restart() {
        await server?.end('SIGTERM')
        server = await startOn(port)
        if (!server) throw new Error(`Redis did not restart:\n${readLog(logFile)}`)
      },
    }
  }
  const log = readLog(logFile)
  await rm(folder, { recursive: true, force: true })
  throw new Error(`Redis did not start:\n${log}`)
}

// The process id, because a PING on a port that somebody else took would be answered too.
function isReady(port: number, pid: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end('INFO server\r\n'))
    let answer = ''
    socket.setEncoding('utf8')
    socket.on('data', (text) => {
      answer += text
    })
    socket.on('error', () => resolve(false))
    socket.on('close', () => resolve(answer.includes(`process_id:${pid}\r\n`)))
  })
}
