import type { Provider } from '../sheets/provider.ts'
import { ProviderFailure } from '../sheets/provider-failure.ts'

/** Stands where a provider would, if the operator had set it up: sheets that need it say so and wait. */
export function createUnconfiguredProvider(name: string, details: string): Provider {
  const fail = async () => {
    throw new ProviderFailure(`${name} is not set up on this server`, { details })
  }
  return { fetch: fail, prepare: fail, settle: fail }
}
