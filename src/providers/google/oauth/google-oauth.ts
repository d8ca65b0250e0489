import { hash } from 'node:crypto'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import { fieldsOf, parseJsonBytes, textOf } from '../../remote/json-fields.ts'
import { readGoogleError } from '../client/google-errors.ts'
import { consentWishes, type GoogleScope, scopeUrl } from './google-consent.ts'
import { claimsMeantFor } from './id-token.ts'
import {
  failureOfAbout,
  misconfiguration,
  noRefreshToken,
  type OAuthProblem,
  problemOf,
  problemOfFailure,
  scopeMissing,
  unusable,
} from './oauth-problem.ts'
import { createTokenEndpoint, type TokenAnswer, type TokenEndpointParts } from './token-endpoint.ts'

/** Google's OAuth, as far as an app needs it that acts for an owner who is away. */
export interface GoogleOAuth {
  /** Where to send the owner's browser. With `drive.file` the owner chooses there what Rowport may use, too. */
  consentUrl(attempt: { state: string; codeChallenge: string; redirectUri: string }): string
  /** The code that the browser brought back, for lasting access; a problem in words for the owner. */
  exchangeCode(attempt: {
    code: string
    verifier: string
    redirectUri: string
  }): Promise<GoogleGrant | OAuthProblem>
  /** 'dead': Google will never again take this refresh token. Any other failure is thrown, and says nothing of it. */
  refresh(refreshToken: string): Promise<Refreshed | { dead: string }>
  /** False when Google did not know the token any more. Throws when Google could not be asked. */
  revoke(token: string): Promise<boolean>
}

export interface GoogleGrant {
  refreshToken: string
  accessToken: string
  expiresInSeconds: number
  scopes: string[]
  /** Google's unchanging name of the person. OAuth and Drive have one each, so it changes with the scope. */
  subject: string
  email: string
}

export interface Refreshed {
  accessToken: string
  expiresInSeconds: number
}

export interface OAuthParts extends TokenEndpointParts {
  client: { clientId: string; clientSecret: string }
  scope: GoogleScope
}

export function createGoogleOAuth({ client, scope, ...parts }: OAuthParts): GoogleOAuth {
  const { endpoints } = parts
  const endpoint = createTokenEndpoint(parts)
  return {
    consentUrl({ state, codeChallenge, redirectUri }) {
      const asked = new URLSearchParams({
        client_id: client.clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        ...consentWishes[scope],
        // A refresh token comes with a first consent only, unless consent is asked for again.
        access_type: 'offline',
        prompt: 'consent',
        state,
        code_challenge: codeChallenge,
        code_challenge_method: 'S256',
        // Whose ID token comes back must be of this attempt, and nobody can guess the challenge either.
        ...(scope === 'spreadsheets' && { nonce: codeChallenge }),
      })
      return `${endpoints.consentPage}?${asked}`
    },

    async exchangeCode({ code, verifier, redirectUri }) {
      try {
        const given = await ask({
          grant_type: 'authorization_code',
          code,
          code_verifier: verifier,
          redirect_uri: redirectUri,
        })
        if ('refused' in given) return problemOf(given.refused)
        const { accessToken, expiresInSeconds, scopes, refreshToken } = given
        // Google lets people untick single boxes and still says yes.
        if (!scopes.includes(scopeUrl(scope))) return scopeMissing
        if (refreshToken === null) return noRefreshToken
        const person = scope === 'drive.file' ? await askDrive(accessToken) : await personOf(given, verifier)
        if (!person) return { problem: 'unreachable', words: 'Google did not say whose account this is.' }
        return { refreshToken, accessToken, expiresInSeconds, scopes, ...person }
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error
        return problemOfFailure(error)
      }
    },

    async refresh(refreshToken) {
      const given = await ask({ grant_type: 'refresh_token', refresh_token: refreshToken })
      if (!('refused' in given)) return given
      const { error, description } = given.refused
      if (error === 'invalid_grant') return { dead: `${error}: ${description}` }
      throw misconfiguration(given.refused)
    },

    async revoke(token) {
      const { status, body } = await endpoint.post(endpoints.revoke, new URLSearchParams({ token }))
      if (status === 200) return true
      if (status === 400 && textOf(fieldsOf(parseJsonBytes(body)).error) !== null) return false
      throw unusable(status)
    },
  }

  async function ask(parameters: Record<string, string>) {
    return endpoint.askToken({
      ...parameters,
      client_id: client.clientId,
      client_secret: client.clientSecret,
    })
  }

  async function personOf(
    { idToken, accessToken, date }: TokenAnswer,
    verifier: string,
  ): Promise<Person | null> {
    const nonce = hash('sha256', verifier, 'base64url')
    const claims = idToken === null ? {} : claimsMeantFor(idToken, { clientId: client.clientId, nonce, date })
    // Who was said to be somebody else, or to somebody else, is not asked for again.
    if (!claims) return null
    const claimed = personIn(claims)
    if (claimed) return claimed
    const { status, body } = await endpoint.get(endpoints.userInfo, accessToken)
    if (status !== 200) throw unusable(status)
    const person = personIn(parseJsonBytes(body))
    return claims.sub === undefined || person?.subject === claims.sub ? person : null
  }

  /** Beside drive.file nothing may be asked for that would tell who it is; but Drive knows whose files they are. */
  async function askDrive(accessToken: string): Promise<Person | null> {
    const fields = new URLSearchParams({ fields: 'user(emailAddress,permissionId,displayName)' })
    const { status, body } = await endpoint.get(`${endpoints.drive}/about?${fields}`, accessToken)
    if (status !== 200) throw failureOfAbout(status, readGoogleError(body), scope)
    const { permissionId, emailAddress, displayName } = fieldsOf(fieldsOf(parseJsonBytes(body)).user)
    const subject = textOf(permissionId)
    // Google may keep the address back; the name still tells the owner which account it is.
    const email = textOf(emailAddress) ?? textOf(displayName)
    return subject !== null && email !== null ? { subject, email } : null
  }
}

type Person = Pick<GoogleGrant, 'subject' | 'email'>

function personIn(claims: unknown): Person | null {
  const { sub, email } = fieldsOf(claims)
  return typeof sub === 'string' && typeof email === 'string' ? { subject: sub, email } : null
}
