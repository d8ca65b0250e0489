/** For tests that are many requests: on a slow machine they take their time, and that is no failure. Without end in a soak. */
export const patienceMs = process.env.SOAK === undefined ? 150_000 : Number.POSITIVE_INFINITY

/** How often something random is tried: few times in `npm test`, many in `npm run soak`. */
export function times(inTests: number, inSoak: number): number {
  return process.env.SOAK === undefined ? inTests : inSoak
}

/** What costs much and shows little more by its size: small where everything quick runs (`npm test`), whole wherever else it does. */
export function sized(whereQuick: number, whole: number): number {
  return process.env.ROWPORT_TESTS === 'quick' ? whereQuick : whole
}
