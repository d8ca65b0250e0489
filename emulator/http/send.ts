import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Reply } from './reply.ts'

const compress = promisify(gzip)

export async function send(request: IncomingMessage, response: ServerResponse, reply: Reply): Promise<void> {
  if (response.destroyed) return
  const acceptsGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  const zip = acceptsGzip && reply.body !== '' && reply.headers['Content-Type'] !== undefined
  const body = zip ? await compress(reply.body, { level: 1 }) : reply.body
  response.writeHead(reply.status, { ...reply.headers, ...(zip ? { 'Content-Encoding': 'gzip' } : {}) })
  response.end(request.method === 'HEAD' ? undefined : body)
}
