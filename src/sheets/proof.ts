/** Something that our promises take for granted at a provider, and what became of trying it there. */
export interface ProvenAssumption {
  id: string
  assumes: string
  /** Why we make it. */
  because: string
  /** null: it could not be tried. */
  holds: boolean | null
  saw: string
  /** What would follow where it does not hold, if nothing were switched off. */
  otherwise: string
  /** What Rowport does not do there while it does not hold; null where it can do without. */
  switchesOff: Ability | null
}

/** What can be done at a provider; without `reads` nothing is, and without `writes` nothing is added either. */
export type Ability = 'reads' | 'writes' | 'additions'

/** What is not done there, because something does not hold that it rests on. */
export interface SwitchedOff {
  ability: Ability
  /** After "Failed to read sheet:", and as the beginning of a sentence. */
  what: string
  /** In sentences. */
  why: string
  /** What brings it back, in a sentence. */
  whatHelps: string
}
