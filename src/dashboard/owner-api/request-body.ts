import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { refusalAnswer, type WireAnswer } from './answering.ts'

const maxBodyBytes = 64 * 1024

/** The body as `input` wants it, or why it is not. */
export async function readInput(
  request: IncomingMessage,
  input: z.ZodType,
): Promise<{ value: unknown } | { wire: WireAnswer }> {
  const type = request.headers['content-type'] ?? ''
  if (!/^application\/json(?:;|$)/i.test(type)) return wrong('invalid', 'The body must be JSON.')
  const bytes = await readBytes(request)
  if (bytes === null) return { wire: refusalAnswer(413, 'invalid', 'The body is too large.') }
  let json: unknown
  try {
    json = JSON.parse(bytes.toString())
  } catch {
    return wrong('invalid', 'The body is not valid JSON.')
  }
  const parsed = input.safeParse(json)
  if (parsed.success) return { value: parsed.data }
  const [issue] = parsed.error.issues
  const field = issue?.path[0] === undefined ? undefined : String(issue.path[0])
  return wrong('invalid', issue?.message ?? 'The body is not what is expected here.', field)
}

function wrong(code: string, message: string, field?: string): { wire: WireAnswer } {
  return { wire: refusalAnswer(400, code, message, field) }
}

async function readBytes(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBodyBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}
