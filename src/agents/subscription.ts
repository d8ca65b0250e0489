import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import { sheetIdIn } from './agent-server.ts'
import type { Message } from './message.ts'
import { inWords } from './next-steps.ts'
import { Failure, type SheetsApi } from './sheets-api.ts'

/** Each is a stream of the API, and costs what one costs. */
const mostSheets = 20

export interface Subscription {
  bus: ServerEventBus
  /** Opens what is asked for; answers where that cannot be done. */
  begin(message: Message): Promise<Response | null>
  onEnd(end: () => void): void
}

/**
 * `subscriptions/listen`: which sheets have changed. Each is followed as any client follows it (docs/api.md#streams), so that it
 * ends with the key, and is counted.
 */
export function createSubscription(api: SheetsApi, left: AbortSignal): Subscription {
  const listeners = new Set<(event: ServerEvent) => void>()
  let ended = () => {}
  const publish = (event: ServerEvent) => {
    for (const listener of listeners) listener(event)
  }

  return {
    bus: {
      publish,
      subscribe(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    onEnd(end) {
      ended = end
    },
    async begin(message) {
      const uris = urisIn(message)
      if (uris.length > mostSheets) return refusal(message, `No more than ${mostSheets} resources at a time.`)
      const streams: [uri: string, chunks: AsyncIterable<Uint8Array>][] = []
      for (const uri of uris) {
        const id = sheetIdIn(uri)
        const chunks = id === null ? null : await api.follow(`/v1/sheets/${id}/changes`)
        if (chunks === null) return refusal(message, `There is no resource ${uri}.`)
        if (chunks instanceof Failure) return refusal(message, inWords(chunks))
        streams.push([uri, chunks])
      }
      for (const [uri, chunks] of streams) void follow(uri, chunks)
      return null
    },
  }

  async function follow(uri: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of chunks) {
        if (left.aborted) return
        const text = Buffer.from(chunk).toString()
        // The last event says why it ends; whoever listens finds that out by asking again.
        if (/^event: end$/m.test(text)) return
        if (/^data: /m.test(text)) publish({ kind: 'resource_updated', uri })
      }
    } finally {
      ended()
    }
  }
}

function urisIn({ params }: Message): string[] {
  const { notifications } = (params ?? {}) as { notifications?: { resourceSubscriptions?: unknown } }
  const uris = notifications?.resourceSubscriptions
  return Array.isArray(uris) ? uris.map(String) : []
}

function refusal({ id }: Message, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code: -32602, message } })
}
