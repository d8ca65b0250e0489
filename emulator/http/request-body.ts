import type { IncomingMessage } from 'node:http'

const longestBodyBytes = 64 * 1024 * 1024

/** The whole body as text; `undefined` when it is longer than anything Google would read. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > longestBodyBytes) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

export function parseJson(text: string): { value: unknown } | undefined {
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** OAuth parameters come in the body of a form, in the query, or both; the body wins. */
export function formParameters(query: URLSearchParams, contentType: string, text: string): URLSearchParams {
  const merged = new URLSearchParams(query)
  if (contentType.includes('application/json')) {
    const parsed = parseJson(text)?.value
    for (const [name, value] of Object.entries(parsed ?? {})) merged.set(name, String(value))
    return merged
  }
  for (const name of new Set(new URLSearchParams(text).keys())) merged.delete(name)
  for (const [name, value] of new URLSearchParams(text)) merged.append(name, value)
  return merged
}
