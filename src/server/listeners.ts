import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net'

/**
 * The doors at one port. At each look at the sockets, Node takes one new connection from a listener, and then answers all that
 * the open ones have sent. Where those keep it busy for ten milliseconds a look, a hundred strangers a second at a single
 * listener would keep every newcomer waiting, for as long as they like (docs/decisions/052).
 */
export interface Listeners {
  port: number
  /** Takes no new connection; resolves when the last one is closed. */
  close(): Promise<void>
  countConnections(): Promise<number>
}

/** Newcomers who are let in with each look, at most. */
const listenersAtPort = 32

export interface ListenersWish {
  host: string
  port: number
  backlog: number
  /** A last bound for each listener, above what the places for connections allow. */
  maxConnections: number
}

/** All connections are the first server's, whichever listener took them. */
export async function openListeners(server: Server, wish: ListenersWish): Promise<Listeners> {
  const { host, port, backlog, maxConnections } = wish
  const isShared = await isPortShared(host, port)
  server.maxConnections = maxConnections
  await beginListening(server, { host, port, backlog, reusePort: isShared })
  const { port: itsPort } = server.address() as AddressInfo
  const more = Array.from({ length: isShared ? listenersAtPort - 1 : 0 }, () => {
    // As Node's own for HTTP.
    const listener = createServer({ allowHalfOpen: true, noDelay: true })
    listener.maxConnections = maxConnections
    listener.on('connection', (socket) => server.emit('connection', socket))
    return listener
  })
  for (const listener of more)
    await beginListening(listener, { host, port: itsPort, backlog, reusePort: true })
  const all: NetServer[] = [server, ...more]
  return {
    port: itsPort,
    async close() {
      await Promise.all(all.map(closeListener))
    },
    async countConnections() {
      const counts = await Promise.all(all.map(connectionsOf))
      return counts.reduce((sum, count) => sum + count, 0)
    },
  }
}

/**
 * Whether several listeners may share it here: on Linux and most others, not on macOS and Windows. Throws where somebody else
 * has the port, which the system would not notice between listeners that share.
 */
async function isPortShared(host: string, port: number): Promise<boolean> {
  if (port !== 0) {
    const alone = createServer()
    await beginListening(alone, { host, port })
    await closeListener(alone)
  }
  const sharing = createServer()
  try {
    await beginListening(sharing, { host, port: 0, reusePort: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTSUP') return false
    throw error
  }
  await closeListener(sharing)
  return true
}

async function beginListening(server: NetServer, at: Parameters<NetServer['listen']>[0]): Promise<void> {
  server.listen(at)
  await once(server, 'listening')
}

function closeListener(server: NetServer): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}

function connectionsOf(server: NetServer): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count ?? 0)))
}
