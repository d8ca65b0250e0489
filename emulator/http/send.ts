import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Reply } from './reply.ts'

const compress = promisify(gzip)

/** Encoded answers are kept as long as the sheet stays as it is, and so is what they pack down to. */
const packed = new WeakMap<Buffer, Promise<Buffer>>()

export async function send(request: IncomingMessage, response: ServerResponse, reply: Reply): Promise<void> {
  if (response.destroyed) return
  const acceptsGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  const zip = acceptsGzip && reply.body.length > 0 && reply.headers['Content-Type'] !== undefined
  const body = zip ? await pack(reply.body) : reply.body
  response.writeHead(reply.status, { ...reply.headers, ...(zip ? { 'Content-Encoding': 'gzip' } : {}) })
  response.end(request.method === 'HEAD' ? undefined : body)
}

function pack(body: string | Buffer): Promise<Buffer> {
  if (typeof body === 'string') return compress(body, { level: 1 })
  const known = packed.get(body) ?? compress(body, { level: 1 })
  packed.set(body, known)
  return known
}
