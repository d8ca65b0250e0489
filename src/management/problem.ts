/** Why an owner's or operator's change was not made, in a sentence for them. A value, not a malfunction. */
export class Problem {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}
