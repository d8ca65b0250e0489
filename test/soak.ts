/** How often something random is tried: few times in `npm test`, many in `npm run soak`. */
export function times(inTests: number, inSoak: number): number {
  return process.env.SOAK === undefined ? inTests : inSoak
}
