import type { IncomingMessage } from 'node:http'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { createAgentServer } from './agent-server.ts'
import type { Message } from './message.ts'
import type { Listed, SheetsApi } from './sheets-api.ts'
import { createSubscription } from './subscription.ts'

export interface AskedMessage {
  request: IncomingMessage
  message: Message
  api: SheetsApi
  listed: Listed | null
  /** Says when the client is gone. */
  left: AbortSignal
  url: string
  version: string
}

/** One message and its answer, by the official SDK: it knows the versions of the protocol, and what each of them wants. */
export async function answerMessage(asked: AskedMessage): Promise<Response> {
  const { request, message, api, listed, left, url, version } = asked
  const subscription = createSubscription(api, left)
  const handler = createMcpHandler(({ era }) => createAgentServer({ api, listed, era, version }), {
    bus: subscription.bus,
  })
  subscription.onEnd(() => void handler.close())
  if (message.method === 'subscriptions/listen') {
    // Whoever sends no more is mostly gone, which nothing else would show before something is written: it would hold its place.
    const end = async () => {
      await api.nextTurn()
      void handler.close()
    }
    request.socket.once('end', end)
    left.addEventListener('abort', () => request.socket.off('end', end), { once: true })
    const refusal = await subscription.begin(message)
    if (refusal) return refusal
  }
  return handler.fetch(new Request(url, { method: 'POST', headers: webHeaders(request), signal: left }), {
    parsedBody: message,
  })
}

function webHeaders({ headers }: IncomingMessage): Headers {
  const own = new Headers()
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && /^(?:accept|content-type|mcp-.*)$/.test(name)) own.set(name, String(value))
  return own
}
