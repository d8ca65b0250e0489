import { connect, type Socket } from 'node:net'

/** A client with one connection that it keeps: cheap enough to be fifty of, and exact about when a request began. */
export interface LoadClient {
  /** One request at a time. Opens the connection where there is none. */
  ask(asked: AskedRequest): Promise<Answered | Unanswered>
  close(): void
}

export interface AskedRequest {
  port: number
  path: string
  apiKey: string
  /** Makes it a POST, unless the method is given. */
  body?: string
  method?: string
  headers?: Record<string, string>
}

interface Timed {
  /** Just before the first byte was written. */
  begunMs: number
  endedMs: number
}

export interface Answered extends Timed {
  status: number
  /** Of the error; null for a success. */
  code: string | null
  text: string
  /** The header `Age`; null where there is none. */
  ageSeconds: number | null
  /** From memory, without a question to the provider, as `Cache-Status` has it. */
  isHit: boolean
}

/** The connection ended before the whole answer was there, or could not be made. */
export interface Unanswered extends Timed {
  status: null
  /** Whether the request was sent. */
  isSent: boolean
}

interface ReceivedAnswer {
  status: number
  head: string
  body: string
}

interface Connection {
  port: number
  socket: Socket
  /** What came back and is not a whole answer yet. */
  received: string
  settle: ((answer: ReceivedAnswer | null) => void) | null
  isOpen: boolean
}

export function createLoadClient(): LoadClient {
  let kept: Connection | null = null

  return {
    async ask({ port, path, apiKey, body, method = body === undefined ? 'GET' : 'POST', headers = {} }) {
      const connection = kept?.isOpen && kept.port === port ? kept : await opened(port)
      if (!connection) {
        const nowMs = performance.now()
        return { status: null, isSent: false, begunMs: nowMs, endedMs: nowMs }
      }
      kept = connection
      const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n${more.join('')}`
      const bytes =
        body === undefined ? `${head}\r\n` : `${head}Content-Length: ${body.length}\r\n\r\n${body}`
      const answered = new Promise<ReceivedAnswer | null>((resolve) => {
        connection.settle = resolve
      })
      const begunMs = performance.now()
      connection.socket.write(bytes)
      const answer = await answered
      const endedMs = performance.now()
      if (!answer) return { status: null, isSent: true, begunMs, endedMs }
      const { status } = answer
      const code = status < 300 ? null : (/"code":"(\w+)"/.exec(answer.body)?.[1] ?? null)
      const age = /\r\nAge: (\d+)/i.exec(answer.head)?.[1]
      const ageSeconds = age === undefined ? null : Number(age)
      const isHit = /\r\nCache-Status: rowport; hit/i.test(answer.head)
      return { status, code, text: answer.body, ageSeconds, isHit, begunMs, endedMs }
    },
    close: () => kept?.socket.destroy(),
  }
}

async function opened(port: number): Promise<Connection | null> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const connection: Connection = { port, socket, received: '', settle: null, isOpen: true }
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    connection.received += text
    settleIfWhole(connection)
  })
  socket.on('error', () => {})
  const isConnected = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('close', () => {
      connection.isOpen = false
      connection.settle?.(null)
      resolve(false)
    })
  })
  return isConnected ? connection : null
}

function settleIfWhole(connection: Connection): void {
  const { received } = connection
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return
  const bodyAt = headEnd + 4
  const length = Number(/\r\nContent-Length: (\d+)/i.exec(received)?.[1] ?? 0)
  if (received.length < bodyAt + length) return
  connection.received = received.slice(bodyAt + length)
  connection.settle?.({
    status: Number(received.slice(9, 12)),
    head: received.slice(0, headEnd),
    body: received.slice(bodyAt, bodyAt + length),
  })
  connection.settle = null
}
