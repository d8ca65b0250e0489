import { CredentialExpired, ProviderFailure } from '../../sheets/provider-failure.ts'
import type { ProviderKind } from '../../sheets/provider-kind.ts'
import { Problem } from '../problem.ts'

/** What a provider could not do is the owner's to hear; anything else is ours. */
export async function orProblem<T>(
  { whenAccessEnded }: Pick<ProviderKind, 'whenAccessEnded'>,
  work: () => Promise<T>,
): Promise<T | Problem> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CredentialExpired && whenAccessEnded !== null)
      return new Problem(whenAccessEnded, { kind: 'provider' })
    if (!(error instanceof ProviderFailure)) throw error
    const { details } = error.facts
    const words = details === undefined ? error.message : `${error.message}. ${details}`
    return new Problem(words, { kind: 'provider' })
  }
}
