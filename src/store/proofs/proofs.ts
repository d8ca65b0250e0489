/** The store's part for what was tried at a provider: whether it keeps what our promises take for granted there. */
export interface ProofStore {
  /** Each replaces what was known of the same assumption; of the others, that stays. `service`: who was tried. */
  saveProof(service: string, tried: readonly TriedAssumption[]): Promise<void>
  proofOf(service: string): Promise<StoredProof[]>
}

export interface TriedAssumption {
  assumption: string
  holds: boolean
  /** What was seen there. */
  saw: string
}

export interface StoredProof extends TriedAssumption {
  triedAtMs: number
}
