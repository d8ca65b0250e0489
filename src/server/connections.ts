import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { clientAddress, isTrusted, socketAddress, type TrustedProxies } from '../http/client-address.ts'
import type { Observe } from '../reporting/observe.ts'
import { clientNetwork } from '../shares/client-network.ts'
import type { Shares } from '../shares/shares.ts'

/**
 * The places for connections. An address has so many of them, and a newcomer takes the place of the one that was idle for
 * the longest: its own where its address has all it may have, else one of the address that holds the most. So whoever
 * comes from elsewhere always gets in, however many connections others hold and leave idle.
 *
 * Addresses with a few are all alike: as many as a browser opens are no more of an attack than one is, and where thousands of
 * addresses hold one each, whoever has two would be the first to lose one. Of theirs the one goes that was used the longest ago.
 *
 * A connection of a trusted proxy is nobody's: the next request on it may be another client's. Such connections are not
 * counted by address and never closed to make room, which could meet a request that is on its way. What is counted instead
 * are the requests under way of each client that the proxy speaks for, which is what that client's own connections would be.
 */
export interface OpenConnections {
  /** Takes a new connection in, or says why not. */
  open(socket: Socket): Refusal | null
  /** To be told of every request, before anyone answers it; or says why not to. */
  begin(request: IncomingMessage, response: ServerResponse): Refusal | null
  /** Closes those that have been idle for so long, and for a moment more: a request may be on its way. To be called every now and then. */
  closeIdle(afterMs: number): void
}

export interface ConnectionsParts {
  clock: Pick<Clock, 'elapsedMs'>
  shares: Pick<Shares, 'connections' | 'connections_per_address'>
  trustedProxies: TrustedProxies | null
  observe: Observe
}

interface OpenSocket {
  socket: Socket
  /** null for a proxy's. */
  network: Network | null
  /** The last one on it; null before the first. */
  request: IncomingMessage | null
  response: ServerResponse | null
  /** Which of all requests, or arrivals, was its last: the lower, the longer ago. */
  turn: number
  openedMs: number
  /** Since when it is known to have been idle, and after which turn and how many bytes; null where it is not. */
  idle: { sinceMs: number; turn: number; bytesRead: number } | null
}

interface Network {
  name: string
  connections: Set<OpenSocket>
}

const retryAfterSeconds = 1
const requestOnItsWayMs = 1_000
/** Some milliseconds. Thousands may have become idle together. */
const closedTogether = 100
/** A browser opens six. */
const few = 8

export function createConnections({
  shares,
  trustedProxies,
  clock,
  observe,
}: ConnectionsParts): OpenConnections {
  const { connections: most, connections_per_address: mostOfAddress } = shares
  const bySocket = new WeakMap<Socket, OpenSocket>()
  /** The one that was used the longest ago comes first. */
  const all = new Set<OpenSocket>()
  const networks = new Map<string, Network>()
  /** Networks by how many connections they have, so that the one with the most is found at once. */
  const bySize: Set<Network>[] = []
  /** How many requests are under way for each client behind a proxy. */
  const underWay = new Map<string, number>()
  let turns = 0

  return {
    open(socket) {
      const address = socketAddress(socket)
      const network = isTrusted(address, trustedProxies) ? null : networkOf(clientNetwork(address))
      const isFullForAddress = network !== null && network.connections.size >= mostOfAddress
      if (isFullForAddress || all.size >= most) {
        const share = isFullForAddress ? 'connections_per_address' : 'connections'
        observe({ event: 'share_used_up', share, accountId: null })
        const gone = isFullForAddress ? longestIdle(network) : mostDispensable(network)
        if (!gone) return tooMany(isFullForAddress ? openOfAddress : openOfAll)
        gone.socket.resetAndDestroy()
        forget(gone)
      }
      const unused = { request: null, response: null, idle: null, openedMs: clock.elapsedMs() }
      const connection: OpenSocket = { socket, network, ...unused, turn: ++turns }
      bySocket.set(socket, connection)
      all.add(connection)
      if (network) {
        networks.set(network.name, network)
        resize(network, () => network.connections.add(connection))
      }
      socket.once('close', () => forget(connection))
      return null
    },

    begin(request, response) {
      const connection = bySocket.get(request.socket)
      // One that was handed over, or turned away.
      if (!connection) return null
      connection.request = request
      connection.response = response
      connection.turn = ++turns
      all.delete(connection)
      all.add(connection)
      return connection.network ? null : beginFor(clientAddress(request, trustedProxies), request, response)
    },

    closeIdle(afterMs) {
      const nowMs = clock.elapsedMs()
      let closed = 0
      for (const connection of all) {
        const { socket, response, turn, idle } = connection
        // Before the first request, Node's own limit holds.
        if (response === null || isUnderWay(response)) connection.idle = null
        else if (idle?.turn !== turn || idle.bytesRead !== socket.bytesRead)
          connection.idle = { sinceMs: nowMs, turn, bytesRead: socket.bytesRead }
        else if (nowMs - idle.sinceMs >= afterMs + requestOnItsWayMs && closed++ < closedTogether)
          socket.destroy()
      }
    },
  }

  function networkOf(name: string): Network {
    return networks.get(name) ?? { name, connections: new Set() }
  }

  /** Once it is closed, or as good as: the event may come later than the next connection. */
  function forget(connection: OpenSocket): void {
    if (!bySocket.delete(connection.socket)) return
    all.delete(connection)
    const { network } = connection
    if (network) resize(network, () => network.connections.delete(connection))
  }

  function resize(network: Network, change: () => void): void {
    bySize[network.connections.size]?.delete(network)
    change()
    const { size } = network.connections
    if (size === 0) networks.delete(network.name)
    else {
      bySize[size] ??= new Set()
      bySize[size].add(network)
    }
    while (bySize.length > 0 && !bySize.at(-1)?.size) bySize.pop()
  }

  /**
   * The first to be spared, of the networks with the most connections. Nobody loses one to a network that holds as many, but where
   * both have a few and it is idle: an answer on its way is not cut for somebody's next connection.
   */
  function mostDispensable(newcomer: Network | null): OpenSocket | null {
    const size = newcomer?.connections.size ?? 0
    return (
      fromLargest(longestIdle, Math.max(size, few) + 1) ??
      (size < few ? longestIdleOfFew() : newcomer && longestIdle(newcomer)) ??
      fromLargest(longestWaitedFor, size + 1)
    )
  }

  function longestIdleOfFew(): OpenSocket | null {
    for (const connection of all) {
      const { network } = connection
      if (network && network.connections.size <= few && isIdleForLong(connection)) return connection
    }
    return null
  }

  /** The first request of a new one is on its way: those who come at once would close each other's before any is heard. */
  function isIdleForLong({ response, openedMs }: OpenSocket): boolean {
    return response === null ? clock.elapsedMs() - openedMs >= requestOnItsWayMs : !isUnderWay(response)
  }

  function fromLargest(find: (network: Network) => OpenSocket | null, leastSize: number): OpenSocket | null {
    for (let size = bySize.length - 1; size >= leastSize; size--) {
      for (const network of bySize[size] ?? []) {
        const found = find(network)
        if (found) return found
      }
    }
    return null
  }

  /** Where a proxy does not say whom it speaks for, its requests are nobody's. */
  function beginFor(address: string, request: IncomingMessage, response: ServerResponse): Refusal | null {
    if (address === socketAddress(request.socket)) return null
    const name = clientNetwork(address)
    const count = underWay.get(name) ?? 0
    if (count >= mostOfAddress) {
      observe({ event: 'share_used_up', share: 'connections_per_address', accountId: null })
      return tooMany(underWayOfAddress)
    }
    underWay.set(name, count + 1)
    response.once('close', () => {
      const left = (underWay.get(name) ?? 1) - 1
      if (left > 0) underWay.set(name, left)
      else underWay.delete(name)
    })
    return null
  }
}

const openOfAddress = 'Your IP address has as many open connections as it can have, and all of them are busy.'
const openOfAll = 'The server has as many open connections as it may have, and all of them are busy.'
const underWayOfAddress = 'Your IP address has as many requests in progress as it can have.'

function tooMany(details: string): Refusal {
  const fill = { seconds: String(retryAfterSeconds) }
  return new Refusal('too_many_at_once', { fill, details, retryAfterSeconds })
}

function longestIdle({ connections }: Network): OpenSocket | null {
  return longest(connections, ({ response }) => !isUnderWay(response))
}

/** One that brings its request, or takes its answer, at a pace of its own: the server has nothing to do for it. */
function longestWaitedFor({ connections }: Network): OpenSocket | null {
  return longest(connections, ({ request, response }) => {
    if (!isUnderWay(response)) return false
    return request?.complete === false || response.writableEnded || response.writableNeedDrain
  })
}

/** By looking at each: it is needed only where an address has all it may have, and costs requests nothing. */
function longest(
  connections: ReadonlySet<OpenSocket>,
  isMeant: (connection: OpenSocket) => boolean,
): OpenSocket | null {
  let found: OpenSocket | null = null
  for (const connection of connections)
    if (connection.turn < (found?.turn ?? Number.POSITIVE_INFINITY) && isMeant(connection)) found = connection
  return found
}

function isUnderWay(response: ServerResponse | null): response is ServerResponse {
  return response !== null && !response.writableFinished && !response.destroyed
}
