import { Agent, request } from 'node:http'

export interface Heard {
  /** null when the connection broke before the answer was there. */
  status: number | null
  body: string
  isReplay: boolean
}

export interface PlainClient {
  send(url: string, method: string, body: string | null, idempotencyKey: string | null): Promise<Heard>
  close(): void
}

/** Writes over connections that it keeps, and tells an answer from a connection that broke. */
export function createPlainClient(apiKey: string): PlainClient {
  const agent = new Agent({ keepAlive: true })
  return {
    send(url, method, body, idempotencyKey) {
      const { promise, resolve } = Promise.withResolvers<Heard>()
      const broken = () => resolve({ status: null, body: '', isReplay: false })
      const headers = {
        Authorization: `Bearer ${apiKey}`,
        ...(idempotencyKey !== null && { 'Idempotency-Key': idempotencyKey }),
      }
      const asked = request(url, { method, agent, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        answer.on('end', () => {
          const isReplay = answer.headers['idempotent-replayed'] === 'true'
          resolve({ status: answer.statusCode ?? 0, body: text, isReplay })
        })
        answer.on('error', broken).on('aborted', broken)
      })
      asked.on('error', broken)
      asked.end(body ?? undefined)
      return promise
    },
    close: () => agent.destroy(),
  }
}
