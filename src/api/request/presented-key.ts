import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { hashApiKey, hashOfNoKey, mayBeApiKey } from '../../admission/api-key.ts'
import type { Parameters } from './query.ts'

const bearer = /^Bearer +(\S.*)$/i

/** The key of the last request on a connection: most repeat it, and to hash it again is a fifteenth of all that a read costs. */
const lastOn = new WeakMap<Socket, { authorization: string; hash: string }>()

/** The hash of the key that came with a request, null when none did. The key itself goes no further than this. */
export function presentedKeyHash(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  parameters: Parameters,
): string | null {
  const { authorization } = headers
  const last = lastOn.get(socket)
  if (authorization !== undefined && last?.authorization === authorization) return last.hash
  const apiKey = presentedKey(headers, parameters)
  if (apiKey === null) return null
  const hash = hashApiKey(apiKey) ?? hashOfNoKey
  // Under another scheme the key stood elsewhere, and may be another next time.
  if (authorization !== undefined && bearer.test(authorization)) lastOn.set(socket, { authorization, hash })
  return hash
}

/** Whether it is worth to look for the key that came with a request; told from its text alone. */
export function mayHaveKey({ headers }: Pick<IncomingMessage, 'headers'>, parameters: Parameters): boolean {
  const apiKey = presentedKey(headers, parameters)
  return apiKey !== null && mayBeApiKey(apiKey)
}

/**
 * `Authorization: Bearer` > `X-API-Key` > `?api_key=`, and only the first present is judged
 * (docs/contract.md#sending-a-key). Another scheme, or a place left empty, counts as absent. (Node joins a repeated
 * `X-API-Key` with commas: no key then.)
 */
export function presentedKey(headers: IncomingHttpHeaders, parameters: Parameters): string | null {
  const token = headers.authorization && bearer.exec(headers.authorization)?.[1]?.trim()
  if (token) return token
  const header = headers['x-api-key']
  if (header) return String(header)
  return parameters.find(([name, value]) => name === 'api_key' && value !== '')?.[1] ?? null
}
