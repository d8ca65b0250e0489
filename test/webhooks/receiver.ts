import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'

export interface Received {
  id: string
  headers: Record<string, string>
  body: string
  /** As the verifier of others reads it. */
  type: string
  // biome-ignore lint/suspicious/noExplicitAny: it is what a receiver gets.
  data: any
  status: number
}

/** What it answers; it never does where there is nothing. */
export type Behavior = (
  nth: number,
) => { status: number; headers?: Record<string, string>; body?: string } | null

/** A receiver as others write one: it believes what `standardwebhooks` has verified, and nothing else. */
export interface Receiver {
  url: string
  secrets: string[]
  received: Received[]
  behavior: Behavior
  /** Most requests that were open at the same moment. */
  mostAtOnce: number
  /** What it has taken, in the order in which it came. */
  taken(): Received[]
  /** The numbers of the changes that it has taken. */
  changes(): number[]
}

export const fine: Behavior = () => ({ status: 200, body: 'thanks' })

export async function startReceiver(
  t: { after(work: () => void): void },
  behavior: Behavior = fine,
): Promise<Receiver> {
  let open = 0
  const receiver: Receiver = {
    url: '',
    secrets: [],
    received: [],
    behavior,
    mostAtOnce: 0,
    taken: () => receiver.received.filter(({ status }) => status >= 200 && status < 300),
    changes: () => receiver.taken().flatMap(({ data }) => (data.changes ?? []).map(numberOf)),
  }
  const server = createServer((request, response) => {
    receiver.mostAtOnce = Math.max(receiver.mostAtOnce, ++open)
    response.on('close', () => open--)
    void take(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return receiver

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const headers = request.headers as Record<string, string>
    const [secret = ''] = receiver.secrets
    const { type, data } = verified(secret, body, headers)
    const answer = receiver.behavior(receiver.received.length)
    const id = headers['webhook-id'] ?? ''
    receiver.received.push({ id, headers, body, type, data, status: answer?.status ?? 0 })
    if (answer) response.writeHead(answer.status, answer.headers).end(answer.body)
  }
}

/** Its clock is the test's: the verifier's five minutes are checked against the timestamp itself. */
export function verified(secret: string, body: string, headers: Record<string, string>) {
  const timestamp = Number(headers['webhook-timestamp'])
  const realNow = Date.now
  Date.now = () => timestamp * 1_000
  try {
    // biome-ignore lint/suspicious/noExplicitAny: it is what a receiver gets.
    return new Webhook(secret).verify(body, headers) as { type: string; timestamp: string; data: any }
  } finally {
    Date.now = realNow
  }
}

function numberOf({ cursor }: { cursor: string }): number {
  return Number(cursor.split('-')[1])
}

/** Until it holds; what a server does by itself, it does within seconds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 20_000) {
  const endMs = performance.now() + withinMs
  while (!(await holds())) {
    assert.ok(performance.now() < endMs, `It never became true: ${what}`)
    await sleep(20)
  }
}

export const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1)
