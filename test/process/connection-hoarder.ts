import { connect, type Socket } from 'node:net'

/**
 * Run as a process of its own, so that what it does costs the victim's clock nothing: opens connections from the given
 * addresses, keeps them, and opens another wherever one is closed. Its wish is the first argument; at a line on stdin it
 * says how it stands.
 */
export interface HoarderWish {
  port: number
  addresses: readonly string[]
  connections: number
  /** What the connections do, in turn. */
  kinds: readonly HoarderKind[]
  /** For those that ask. */
  path: string
  headers?: Record<string, string>
}

/**
 * `idle`: one request, then nothing. `silent`: not even that. `slow-headers`: one byte after the other. `slow-reader`: asks,
 * and leaves the answer lying. `unawaited`: asks as often as fits into the connection, and again and again. `tiny-chunks`: a
 * body without an end, in chunks of one byte.
 */
export type HoarderKind = 'idle' | 'silent' | 'slow-headers' | 'slow-reader' | 'unawaited' | 'tiny-chunks'

export interface HoarderReport {
  opened: number
  held: number
  /** Connections that were answered with 429. */
  turnedAway: number
}

/** Fast enough to take any place that becomes free, slow enough to leave the machine to the server. */
const reopenEveryMs = 20
const reopenedTogether = 2
const atOnceAtFirst = 100

if (import.meta.main) hoard(JSON.parse(process.argv[2] ?? '') as HoarderWish)

function hoard(wish: HoarderWish): void {
  const { port, addresses, connections, kinds, path, headers = {} } = wish
  const held = new Set<Socket>()
  const report: HoarderReport = { opened: 0, held: 0, turnedAway: 0 }
  let connecting = 0

  setInterval(() => {
    const isFilling = report.opened < connections
    const room = isFilling ? atOnceAtFirst - connecting : reopenedTogether
    for (let n = 0; n < room && held.size + connecting < connections; n++) open(report.opened++)
  }, reopenEveryMs)
  process.stdin.on('data', () => process.stdout.write(`${JSON.stringify({ ...report, held: held.size })}\n`))
  process.stdin.on('end', () => process.exit(0))

  function open(at: number): void {
    const localAddress = addresses[at % addresses.length]
    const kind = kinds[Math.floor(at / addresses.length) % kinds.length] ?? 'idle'
    connecting++
    const socket = connect({ port, host: '127.0.0.1', ...(localAddress && { localAddress }) })
    let isOpen = false
    socket.on('error', () => {})
    socket.once('connect', () => {
      connecting--
      isOpen = true
      held.add(socket)
      begin(socket, kind)
    })
    socket.once('close', () => {
      if (!isOpen) connecting--
      held.delete(socket)
    })
  }

  function begin(socket: Socket, kind: HoarderKind): void {
    const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const head = `Host: rowport.test\r\n${own.join('')}`
    socket.on('data', (chunk: Buffer) => {
      if (chunk.toString('latin1', 0, 12).startsWith('HTTP/1.1 429')) report.turnedAway++
    })
    if (kind === 'idle') socket.write(`GET /healthz HTTP/1.1\r\n${head}\r\n`)
    if (kind === 'slow-reader') {
      socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n`)
      // A refusal is read, an answer is not.
      socket.once('data', () => socket.pause())
    }
    if (kind === 'unawaited') flood(socket, `GET ${path} HTTP/1.1\r\n${head}\r\n`)
    if (kind === 'tiny-chunks') {
      socket.write(`POST ${path} HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n`)
      flood(socket, '1\r\nx\r\n')
    }
    if (kind === 'slow-headers') {
      const text = `GET ${path} HTTP/1.1\r\n${head}X: ${'y'.repeat(9_999)}`
      let sent = 0
      const dribble = setInterval(() => socket.write(text[sent++] ?? 'y'), 500)
      socket.once('close', () => clearInterval(dribble))
    }
  }
}

function flood(socket: Socket, text: string): void {
  const bytes = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)))
  const write = () => {
    while (!socket.destroyed && socket.write(bytes));
  }
  socket.on('drain', write)
  write()
}
