import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import { failureOf, type GoogleError, plainText } from '../client/google-errors.ts'
import type { GoogleScope } from './google-consent.ts'

export interface OAuthProblem {
  problem: 'denied' | 'scope_missing' | 'no_refresh_token' | 'code_unusable' | 'misconfigured' | 'unreachable'
  /** For the owner. */
  words: string
}

/** What the token endpoint says when it says no. */
export interface TokenRefusal {
  error: string
  description: string
}

export function unusable(status: number): ProviderFailure {
  return new ProviderFailure("Google's sign-in service is not available at the moment", {
    isPassing: true,
    retryAfterSeconds: 5,
    cause: new Error(`The token endpoint answered ${status}`),
  })
}

/** Drive would not say whose access it is: not yet, not before the operator does something, or not at all. */
export function failureOfAbout(
  status: number,
  error: GoogleError | null,
  scope: GoogleScope,
): ProviderFailure {
  if (status >= 500 || status === 429 || error === null) return unusable(status)
  if (/^(?:SERVICE_DISABLED|accessNotConfigured)$/.test(error.reason))
    return failureOf(status, error, { by: 'owner', scope })
  return new ProviderFailure('Google did not say whose account this is', {
    details: `Google says: ${plainText(error.message)}`,
    cause: new Error(`about.get answered ${status} ${error.reason}`),
  })
}

/** Ours or the operator's fault, never the owner's: their credential is as good as before. */
export function misconfiguration({ error, description }: TokenRefusal): ProviderFailure {
  return new ProviderFailure('Google does not accept this server', {
    details:
      error === 'invalid_client' || error === 'unauthorized_client'
        ? 'The operator must correct GOOGLE_CLIENT_ID or GOOGLE_CLIENT_SECRET: Google does not know them together.'
        : `Google says: ${error} ${description}`.trim(),
    cause: new Error(`${error}: ${description}`),
  })
}

export const registerApp =
  'The operator sets GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET; docs/google-setup.md says how to get them.'

/** What owners allowed to an app can only be used as that app. */
export function withoutApp(): ProviderFailure {
  return new ProviderFailure('Google Sheets is not set up on this server', { details: registerApp })
}

export const scopeMissing: OAuthProblem = {
  problem: 'scope_missing',
  words:
    'The box that lets Rowport see your spreadsheets was not ticked. Connect again and leave it ticked; without it ' +
    'there is nothing that could be read.',
}

export const noRefreshToken: OAuthProblem = {
  problem: 'no_refresh_token',
  words:
    'Google gave access for one hour only. Remove Rowport at https://myaccount.google.com/connections and connect again.',
}

export function problemOfFailure({ message, facts }: ProviderFailure): OAuthProblem {
  if (!facts.isPassing) {
    const words = `${message.charAt(0).toUpperCase()}${message.slice(1)}. ${facts.details ?? ''} Nothing was saved.`
    return { problem: 'misconfigured', words }
  }
  const words = `Google could not be asked (${message}). Nothing was saved; try again in a moment.`
  return { problem: 'unreachable', words }
}

/** What the consent page sends back instead of a code. */
export function problemOfConsent(error: string): OAuthProblem {
  if (error === 'access_denied') {
    return { problem: 'denied', words: 'Access was not granted. Nothing was saved; you can try again.' }
  }
  return { problem: 'misconfigured', words: `Google refused to ask you (${plainText(error)}).` }
}

export function problemOf(refusal: TokenRefusal): OAuthProblem {
  if (refusal.error === 'invalid_grant') {
    const words = 'This consent was used already or is too old. Nothing was saved; connect again.'
    return { problem: 'code_unusable', words }
  }
  const { details = '' } = misconfiguration(refusal).facts
  return { problem: 'misconfigured', words: `Google does not accept this server. ${details}` }
}
