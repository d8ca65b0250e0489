import type { StoredProof } from '../proofs/proofs.ts'
import type { ProviderProofTable } from './schema.ts'

/** What can be seen of a store without changing anything in it. */
export interface StoreInspection {
  /** The number of its newest migration; null when there is nothing in it yet. */
  newestMigration: number | null
  /** Empty unless it is of this version's make. */
  sheets: InspectedSheet[]
  /** Which keys sealed its credentials and the secrets of webhooks. */
  sealedBy: string[]
  /** What was tried at providers, by who was tried. */
  proofs: (StoredProof & { service: string })[]
  /** The server's time, now; null where there is no server. */
  serverMs: number | null
}

export interface InspectedSheet {
  /** `account/sheet` */
  name: string
  provider: string
  location: string
}

export function proofForExport({ service, assumption, holds, saw, tried_at_ms }: ProviderProofTable) {
  return { service, assumption, holds: holds === 1, saw, triedAtMs: tried_at_ms }
}
