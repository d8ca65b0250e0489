/** What came is not from the server that knows the secret, or came too late. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

const toleranceSeconds = 300

/**
 * Makes sure that a webhook came from your server, by the Standard Webhooks specification, and gives what it says. `body` as it came, before
 * anything has parsed it; `secret` one or, while it is changed, several.
 */
export async function verifyWebhook(
  body: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string | readonly string[],
  nowMs: number = Date.now(),
): Promise<{ type: string; timestamp: string; data: unknown }> {
  const known =
    headers instanceof Headers
      ? headers
      : new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]))
  const header = (name: string) => known.get(name) ?? ''
  const id = header('webhook-id')
  const timestamp = header('webhook-timestamp')
  const isTimely = Math.abs(nowMs / 1_000 - Number(timestamp)) <= toleranceSeconds
  if (!id || !timestamp || !isTimely) throw new WebhookError('Without a name or a time, or too old.')
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  for (const one of [secret].flat())
    for (const signature of header('webhook-signature').split(' '))
      if (signature.startsWith('v1,') && (await isGood(one, signature.slice(3), signed)))
        return parseBody(body)
  throw new WebhookError('The signature is not of this secret.')
}

function parseBody(body: string): { type: string; timestamp: string; data: unknown } {
  try {
    return JSON.parse(body)
  } catch {
    throw new WebhookError('What it says is no JSON.')
  }
}

async function isGood(secret: string, signature: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  try {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const bytes = bytesIn(secret.replace(/^whsec_/, ''))
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
    return await crypto.subtle.verify('HMAC', key, bytesIn(signature), signed)
  } catch {
    return false
  }
}

function bytesIn(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}
