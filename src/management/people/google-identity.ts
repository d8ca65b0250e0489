import type { Clock } from '../../clock.ts'
import { googleEndpoints } from '../../providers/google/client/google-endpoints.ts'
import { claimsMeantFor } from '../../providers/google/oauth/id-token.ts'
import { createDeadline } from '../../providers/remote/deadline.ts'
import { fieldsOf, parseJsonBytes, textOf } from '../../providers/remote/json-fields.ts'
import { createTransport, ExchangeLost } from '../../providers/remote/transport.ts'
import { systemTimers } from '../../timers.ts'

/** Google as the one who says who somebody is. It asks for nothing else, and nothing can be done with it afterwards. */
export interface GoogleIdentity {
  /** Where to send the browser. */
  askUrl(attempt: { state: string; nonce: string; codeChallenge: string; redirectUri: string }): string
  /**
   * The code that the browser brought back; null when Google does not take it, or cannot be asked, or answers with
   * something that was not meant for us, for this attempt, or for now.
   */
  identify(attempt: {
    code: string
    verifier: string
    nonce: string
    redirectUri: string
  }): Promise<GooglePerson | null>
  close(): void
}

export interface GooglePerson {
  /** Google's unchanging name of the person, of OAuth: Drive has another one. */
  subject: string
  email: string
  /** Google has seen that the address is theirs. */
  isEmailVerified: boolean
}

const allowedMs = 10_000
const limits = { silenceMs: 5_000, maxBodyBytes: 256 * 1024 }

export function createGoogleIdentity(
  client: { clientId: string; clientSecret: string; endpoint: string | null },
  clock: Clock,
): GoogleIdentity {
  const endpoints = googleEndpoints(client.endpoint)
  const transport = createTransport(limits)
  return {
    askUrl({ state, nonce, codeChallenge, redirectUri }) {
      const asked = new URLSearchParams({
        client_id: client.clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'openid email',
        prompt: 'select_account',
        state,
        nonce,
        code_challenge: codeChallenge,
        code_challenge_method: 'S256',
      })
      return `${endpoints.consentPage}?${asked}`
    },
    async identify({ code, verifier, nonce, redirectUri }) {
      const form = new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        redirect_uri: redirectUri,
        client_id: client.clientId,
        client_secret: client.clientSecret,
      })
      const answer = await post(endpoints.token, form)
      if (answer?.status !== 200) return null
      const idToken = textOf(fieldsOf(parseJsonBytes(answer.body)).id_token)
      const { date } = answer.headers
      const claims = idToken && claimsMeantFor(idToken, { clientId: client.clientId, nonce, date })
      return claims ? personIn(claims) : null
    },
    close: () => transport.close(),
  }

  async function post(url: string, form: URLSearchParams) {
    const deadline = createDeadline(clock, systemTimers, allowedMs)
    try {
      return await transport.exchange({
        method: 'POST',
        url,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: form.toString(),
        signal: deadline.signal,
      })
    } catch (error) {
      if (error instanceof ExchangeLost) return null
      throw error
    } finally {
      deadline.end()
    }
  }
}

function personIn({ sub, email, email_verified: verified }: Record<string, unknown>): GooglePerson | null {
  if (typeof sub !== 'string' || typeof email !== 'string') return null
  return { subject: sub, email, isEmailVerified: verified === true }
}
