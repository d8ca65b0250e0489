import type { ProviderKind } from '../sheets/provider-kind.ts'
import { fileKind } from './file/file-kind.ts'
import { googleKind } from './google/google-kind.ts'

/** Every provider of this build, in the order in which they are offered. Whoever must treat them one by one goes by its keys, so that none is forgotten. */
export const providerTable = {
  google: googleKind,
  file: fileKind,
} as const satisfies { [id: string]: ProviderKind }

export type ProviderId = keyof typeof providerTable

/** Those where owners must let Rowport in. */
export const connectableKinds: readonly ProviderKind[] = Object.values<ProviderKind>(providerTable).filter(
  ({ connectsBy }) => connectsBy.length > 0,
)
