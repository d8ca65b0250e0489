/** Something that our promises take for granted at a provider, and what became of trying it there. */
export interface ProvenAssumption {
  id: string
  assumes: string
  /** Why we make it. */
  because: string
  /** null: it could not be tried. */
  holds: boolean | null
  saw: string
  /** What follows where it does not hold. */
  otherwise: string
}
