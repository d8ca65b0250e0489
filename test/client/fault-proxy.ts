import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** What can happen to a request on its way, and how often, in a hundred. */
const fates = {
  /** It never arrives. */
  'request lost': 5,
  /** It is done, and nobody hears of it. */
  'answer lost': 10,
  late: 5,
  429: 5,
  503: 5,
} as const
export type Fate = keyof typeof fates | 'fine'

/** Between a client and a server: loses, delays and refuses what comes by, as a number says that `next` gives (0 to 1). */
export async function startFaultProxy(t: TestContext, port: number, next: () => number) {
  const met = new Map<Fate, number>()
  const server = createServer((request, response) => void pass(request, response))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, met }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fate = drawn(next() * 100)
    met.set(fate, (met.get(fate) ?? 0) + 1)
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>))
    if (fate === 'request lost') return void request.socket.destroy()
    if (fate === 429 || fate === 503) {
      response.writeHead(fate, { 'Retry-After': '1', 'Content-Type': 'application/json' })
      return void response.end('{"error":"Not now.","code":"busy"}')
    }
    const { method, url, headers } = request
    const forwarded = ask({ port, method, path: url, headers }, (answer) => {
      if (fate === 'answer lost') {
        answer.resume()
        return void answer.once('end', () => request.socket.destroy())
      }
      const send = () => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      }
      if (fate === 'late') setTimeout(send, 50)
      else send()
    })
    forwarded.on('error', () => request.socket.destroy())
    forwarded.end(body)
  }
}

function drawn(number: number): Fate {
  let upTo = 0
  for (const [fate, share] of Object.entries(fates)) {
    upTo += share
    if (number < upTo) return (Number(fate) || fate) as Fate
  }
  return 'fine'
}
