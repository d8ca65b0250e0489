import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { Reply } from '../http/reply.ts'
import { send } from '../http/send.ts'
import type { Fault } from './fault.ts'
import { withWrongTypes } from './fault-reply.ts'

export interface Delivery {
  request: IncomingMessage
  response: ServerResponse
  reply: Reply
}

/** Sends the reply the way the fault has it. True when the client could read a status. */
export async function deliverSpoilt(fault: Fault, { request, response, reply }: Delivery): Promise<boolean> {
  switch (fault.kind) {
    case 'reset':
    case 'resetAfterApply':
      return reset(response)
    case 'hang':
    case 'hangAfterApply':
      return false
    case 'applyLate':
      return fault.lose === 'hang' ? false : reset(response)
    case 'truncated': {
      const text = String(reply.body)
      await send(request, response, { ...reply, body: text.slice(0, Math.ceil(text.length / 2)) })
      return true
    }
    case 'wrongTypes':
      await send(request, response, withWrongTypes(reply))
      return true
    case 'cut':
      return cut(response, reply)
    case 'drip':
      return drip(response, reply, fault)
    case 'huge':
      return huge(response, reply, fault)
    default:
      await send(request, response, reply)
      return true
  }
}

function reset(response: ServerResponse): boolean {
  response.socket?.resetAndDestroy()
  return false
}

/** The length promises more than comes: the connection ends in the middle of the body. */
function cut(response: ServerResponse, reply: Reply): boolean {
  const body = Buffer.from(String(reply.body))
  response.writeHead(reply.status, { ...reply.headers, 'Content-Length': String(body.length) })
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.socket?.destroy())
  return true
}

async function drip(response: ServerResponse, reply: Reply, fault: Fault): Promise<boolean> {
  const body = Buffer.from(String(reply.body))
  response.writeHead(reply.status, reply.headers)
  for (let at = 0; at < body.length && !response.destroyed; at += fault.chunkBytes) {
    response.write(body.subarray(at, at + fault.chunkBytes))
    await sleep(fault.intervalMs)
  }
  response.end()
  return true
}

async function huge(response: ServerResponse, reply: Reply, fault: Fault): Promise<boolean> {
  response.writeHead(200, { ...reply.headers, ...(fault.gzip ? { 'Content-Encoding': 'gzip' } : {}) })
  const source = Readable.from(hugeJson(fault.bytes))
  try {
    await (fault.gzip ? pipeline(source, createGzip({ level: 1 }), response) : pipeline(source, response))
  } catch {
    // The client had enough of it, which is what the fault is for.
  }
  return true
}

function* hugeJson(bytes: number): Generator<Buffer> {
  const head = Buffer.from('{"range":"Sheet1!A1:Z1000","majorDimension":"ROWS","values":[')
  const row = `["${'x'.repeat(98)}"],\n`
  const block = Buffer.from(row.repeat(640))
  const tail = Buffer.from('[]]}\n')
  yield head
  let left = bytes - head.length - tail.length
  while (left > 0) {
    yield block
    left -= block.length
  }
  yield tail
}
