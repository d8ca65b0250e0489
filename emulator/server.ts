import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { withoutSpareSlashes } from './api-method.ts'
import { answerControl, controlRoot } from './control/control-door.ts'
import {
  createEmulation,
  type Emulation,
  type EmulationOptions,
  type LatencyRange,
  type Settings,
} from './emulation.ts'
import { frontPage } from './front-page.ts'
import type { GoogleWorld } from './google-api.ts'
import { answerGoogleCall } from './google-door.ts'
import { htmlReply } from './http/reply.ts'
import { send } from './http/send.ts'
import { createGoogleWorld } from './sheets/world.ts'

export interface EmulatorOptions {
  /** 0, the default, takes any that is free. */
  port?: number
  host?: string
  /** Time for tokens, rations and modification times; latency and faults wait in real time. */
  nowMs?: () => number
  random?: () => number
  settings?: Partial<Settings>
  /** Another world than the spreadsheets, for tests of the doors alone. */
  createWorld?: EmulationOptions['createWorld']
}

export interface Emulator {
  url: string
  port: number
  /** What is behind the doors now; another one after each reset. */
  readonly emulation: Emulation
  readonly world: GoogleWorld
  reset(): void
  close(): Promise<void>
}

const atOnce: LatencyRange = { minMs: 0, maxMs: 0 }

/** A local Google: all of its hosts under one root, and `/_control/` beside them. */
export async function createEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const settings: Settings = {
    latencyMs: { read: atOnce, write: atOnce, other: atOnce },
    quotas: undefined,
    disabledServices: [],
    strictValidation: false,
    autoConsent: undefined,
    ...options.settings,
  }
  const begin = (): Emulation =>
    createEmulation({
      nowMs: options.nowMs ?? Date.now,
      random: options.random ?? Math.random,
      createWorld: options.createWorld ?? createGoogleWorld,
      settings,
    })
  let emulation = begin()
  const reset = (): void => {
    emulation = begin()
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = request.url ?? '/'
    const queryAt = target.indexOf('?')
    const path = withoutSpareSlashes(queryAt < 0 ? target : target.slice(0, queryAt))
    const query = new URLSearchParams(queryAt < 0 ? '' : target.slice(queryAt + 1))
    const exchange = { request, response, method: request.method ?? 'GET', path, query }
    if (path.startsWith(controlRoot)) return answerControl(() => emulation, reset, exchange)
    if (path === '/') return send(request, response, htmlReply(200, frontPage))
    response.setHeader('Date', new Date(emulation.nowMs()).toUTCString())
    return answerGoogleCall(emulation, exchange)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // A client that goes away is its own business; anything else is a mistake of ours and must be seen.
      if (request.readableAborted || response.destroyed) return
      process.stderr.write(`emulator: ${error instanceof Error ? error.stack : String(error)}\n`)
      if (!response.headersSent) response.writeHead(500, { 'X-Emulator-Bug': 'true' })
      response.end()
    })
  })
  // As long as Google's own: with Node's five seconds an idle connection would be reset without a fault asking for it.
  server.keepAliveTimeout = 240_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get emulation() {
      return emulation
    },
    get world() {
      return emulation.world
    },
    reset,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()))
        server.closeAllConnections()
      }),
  }
}
