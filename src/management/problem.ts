/** Why an owner's or operator's change was not made, in a sentence for them. A value, not a malfunction. */
export class Problem {
  readonly message: string
  readonly facts: ProblemFacts

  constructor(message: string, facts: ProblemFacts = {}) {
    this.message = message
    this.facts = facts
  }
}

export interface ProblemFacts {
  /** What is in the way; 'invalid' where nothing is said. */
  kind?: ProblemKind
  /** Which input it is about. */
  field?: string
  retryAfterSeconds?: number
}

/**
 * `invalid`: the input. `unknown_person`: who they are could not be shown. `recent_sign_in_required`: it was shown too
 * long ago for what they want. `not_allowed`: not here, or not to them.
 * `not_found`, `taken`: the thing. `too_often`, `busy`: later. `provider`: where the spreadsheet is.
 */
export type ProblemKind =
  | 'invalid'
  | 'unknown_person'
  | 'recent_sign_in_required'
  | 'not_allowed'
  | 'not_found'
  | 'taken'
  | 'too_often'
  | 'busy'
  | 'provider'
