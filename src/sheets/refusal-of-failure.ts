import { Refusal, TooManyAtOnce } from '../errors.ts'
import { CredentialExpired, ProviderFailure } from './provider-failure.ts'

/** What `Failed to {action} sheet: …` says (docs/contract.md#provider-failures). */
export type FailedAction = 'read from' | 'write to' | 'update to' | 'delete from'

/** What a client is told of a failure that has a code of its own; null where it is a malfunction. */
export function refusalOfFailure(error: unknown, action: FailedAction): Refusal | null {
  if (error instanceof CredentialExpired) return new Refusal('token_expired')
  if (error instanceof TooManyAtOnce) return error.refusal
  if (!(error instanceof ProviderFailure)) return null
  const { details, retryAfterSeconds } = error.facts
  return new Refusal('google_api_error', {
    fill: { action, reason: error.message },
    ...(details !== undefined && { details }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}
