import type { Clock } from '../../../clock.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { Timers } from '../../../timers.ts'
import { createDeadline } from '../../remote/deadline.ts'
import { fieldsOf, parseJsonBytes, textOf } from '../../remote/json-fields.ts'
import { ExchangeLost, type HttpAnswer, type Transport } from '../../remote/transport.ts'
import type { GoogleEndpoints } from '../client/google-endpoints.ts'
import { plainText } from '../client/google-errors.ts'
import { type TokenRefusal, unusable } from './oauth-problem.ts'

/** Where Google gives access tokens, and the questions that are asked beside it. */
export interface TokenEndpoint {
  /** Throws a passing `ProviderFailure` when there is neither a token nor a refusal in the answer. */
  askToken(
    form: Record<string, string>,
  ): Promise<TokenAnswer | { refused: TokenRefusal; date: string | undefined }>
  get(url: string, accessToken: string): Promise<HttpAnswer>
  post(url: string, form: URLSearchParams): Promise<HttpAnswer>
}

export interface TokenAnswer {
  accessToken: string
  expiresInSeconds: number
  scopes: string[]
  refreshToken: string | null
  idToken: string | null
  /** When it was given, by Google's own clock. */
  date: string | undefined
}

export interface TokenEndpointParts {
  endpoints: GoogleEndpoints
  transport: Transport
  clock: Clock
  timers: Timers
}

const allowedMs = 10_000
const formType = { 'Content-Type': 'application/x-www-form-urlencoded' }

export function createTokenEndpoint({
  endpoints,
  transport,
  clock,
  timers,
}: TokenEndpointParts): TokenEndpoint {
  return {
    async askToken(form) {
      const { status, body, headers } = await post(endpoints.token, new URLSearchParams(form))
      const fields = fieldsOf(parseJsonBytes(body))
      const error = textOf(fields.error)
      if ((status === 400 || status === 401) && error !== null) {
        const description = plainText(textOf(fields.error_description) ?? '')
        return { refused: { error, description }, date: headers.date }
      }
      const accessToken = textOf(fields.access_token)
      const expiresInSeconds = fields.expires_in
      if (status !== 200 || !accessToken || typeof expiresInSeconds !== 'number') throw unusable(status)
      return {
        accessToken,
        expiresInSeconds,
        scopes: (textOf(fields.scope) ?? '').split(' ').filter(Boolean),
        refreshToken: textOf(fields.refresh_token),
        idToken: textOf(fields.id_token),
        date: headers.date,
      }
    },
    get: (url, accessToken) =>
      exchange({ method: 'GET', url, headers: { Authorization: `Bearer ${accessToken}` } }),
    post,
  }

  function post(url: string, form: URLSearchParams): Promise<HttpAnswer> {
    return exchange({ method: 'POST', url, headers: formType, body: form.toString() })
  }

  async function exchange(wish: Omit<Parameters<Transport['exchange']>[0], 'signal'>): Promise<HttpAnswer> {
    const deadline = createDeadline(clock, timers, allowedMs)
    try {
      return await transport.exchange({ ...wish, signal: deadline.signal })
    } catch (error) {
      if (!(error instanceof ExchangeLost)) throw error
      throw new ProviderFailure('Google cannot be reached at the moment', { isPassing: true, cause: error })
    } finally {
      deadline.end()
    }
  }
}
