import type { IncomingHttpHeaders } from 'node:http'
import type { Parameters } from './query.ts'

const bearer = /^Bearer +(\S.*)$/i

/**
 * CONTRACT 4: `Authorization: Bearer` > `X-API-Key` > `?api_key=`, and only the first present is judged. Another
 * scheme, or a place left empty, counts as absent. (Node joins a repeated `X-API-Key` with commas: no key then.)
 */
export function presentedKey(headers: IncomingHttpHeaders, parameters: Parameters): string | null {
  const token = headers.authorization && bearer.exec(headers.authorization)?.[1]?.trim()
  if (token) return token
  const header = headers['x-api-key']
  if (header) return String(header)
  return parameters.find(([name, value]) => name === 'api_key' && value !== '')?.[1] ?? null
}
