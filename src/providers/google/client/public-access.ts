import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { Access, AccessTokens } from '../../remote/access-tokens.ts'

/** Who comes with an API key: nobody in particular, and counted as one by Google. */
export const nobody = 'api key'

export function isPublicAccess({ subject }: Pick<Access, 'subject'>): boolean {
  return subject === nobody
}

/** Without a credential, what is open to everybody with the link is read with the operator's API key. */
export function withPublicAccess(tokens: AccessTokens, apiKey: string | null): AccessTokens {
  return {
    ...tokens,
    async accessToken(credentialId, deadline) {
      if (credentialId !== null) return tokens.accessToken(credentialId, deadline)
      if (apiKey === null) throw withoutKey()
      return { token: apiKey, credentialId: '', version: 0, subject: nobody, scopes: '', isFound: false }
    },
    forget(access) {
      if (!isPublicAccess(access)) tokens.forget(access)
    },
    async expire(access, reason) {
      return access.credentialId === '' ? keyRefused(reason) : tokens.expire(access, reason)
    },
  }
}

function withoutKey(): ProviderFailure {
  return new ProviderFailure('Google lets nobody read without an API key, and this server has none', {
    details: 'The operator sets GOOGLE_API_KEY; docs/google-setup.md says how to get one.',
  })
}

export function keyRefused(reason: string): ProviderFailure {
  return new ProviderFailure('Google does not accept the API key of this server', {
    details:
      'The operator must correct GOOGLE_API_KEY: it is mistyped, deleted, or not allowed to use the Google Sheets API.',
    cause: new Error(reason),
  })
}
