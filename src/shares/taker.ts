/**
 * Who takes of what all share: an account with its keys, by its id, or its visitors, who read without a key or come through a
 * page. Both take of the same account's share, so other accounts have no less for it; but visitors wait in a queue of their
 * own and have a part of the places, and whatever they do, nobody with a key is refused for it.
 */
export type Taker = string

/** Callers of whom no more is known yet than where they come from. They may come from everywhere at once. */
export function strangersFrom(network: string): Taker {
  return fromNetwork + network
}

export function areStrangers(taker: Taker): boolean {
  return taker.startsWith(fromNetwork)
}

/** For work that others may join: whose it is, is asked when it matters. */
export type TakerByThen = Taker | JoinedTaker

export interface JoinedTaker {
  now(): Taker
  /** Settles when whose it is has changed, which happens once: what visitors began becomes the account's own. */
  changed: Promise<void>
}

/** No id has a space in it. */
const ofVisitors = ' visitors'
const fromNetwork = 'from '

export function visitorsOf(accountId: string): Taker {
  return accountId + ofVisitors
}

export function areVisitors(taker: Taker): boolean {
  return taker.endsWith(ofVisitors)
}

export function accountOf(taker: Taker): string {
  return areVisitors(taker) ? taker.slice(0, -ofVisitors.length) : taker
}

export function takerNow(taker: TakerByThen): Taker {
  return typeof taker === 'string' ? taker : taker.now()
}

/** The part of an account's places that its visitors have. */
export function placesOfVisitors(placesOfAccount: number): number {
  return Math.ceil(placesOfAccount / 2)
}
