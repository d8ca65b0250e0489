import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from './find-program.ts'
import { freePort } from './free-port.ts'
import { portWasTaken, readLog, startGuarded, untilReady } from './guarded-process.ts'

export interface CaddyServer {
  url: string
  log(): string
  stop(): Promise<void>
}

const portAttempts = 5

export function findCaddy(): string | undefined {
  return findProgram(['caddy'], ['/usr/bin/caddy', '/opt/homebrew/bin/caddy'])
}

/** Caddy with a Caddyfile as it stands, told by the environment where it listens and what is behind it. */
export async function startCaddy(file: string, upstreamPorts: readonly number[]): Promise<CaddyServer> {
  const program = findCaddy()
  if (!program) throw new Error('Caddy is not on this machine')
  const folder = await mkdtemp(join(tmpdir(), 'rowport-caddy-'))
  const logFile = join(folder, 'log')
  try {
    for (let attempt = 1; attempt <= portAttempts; attempt++) {
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      const env = {
        BASE_URL: url,
        ROWPORT_INSTANCES: upstreamPorts.map((upstream) => `127.0.0.1:${upstream}`).join(' '),
        // Nothing of its own beside the folder; its control port would be the same for all.
        CADDY_ADMIN: `unix//${folder}/admin.sock`,
        HOME: folder,
        XDG_DATA_HOME: folder,
        XDG_CONFIG_HOME: folder,
      }
      const args = ['run', '--config', file, '--adapter', 'caddyfile']
      const server = await startGuarded(program, args, { logFile, folder, abandonSignal: 'TERM', env })
      if (await untilReady(server, () => isOpen(port))) {
        return {
          url,
          log: () => readLog(logFile),
          async stop() {
            await server.end('SIGTERM')
            await rm(folder, { recursive: true, force: true })
          },
        }
      }
      if (!portWasTaken(logFile)) break
    }
    throw new Error(`Caddy did not start:\n${readLog(logFile)}`)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
