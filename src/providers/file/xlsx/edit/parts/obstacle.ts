/**
 * Why a change cannot be made, thrown from wherever in the workbook it is met and made a value again at the door
 * (edit.ts): the places are many, deep, and partly in generators.
 */
export class Obstacle extends Error {
  override readonly name = 'Obstacle'
  readonly changeAt: number

  /** `details` are words for the client. */
  constructor(changeAt: number, details: string) {
    super(details)
    this.changeAt = changeAt
  }
}
