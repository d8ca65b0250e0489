import fc from 'fast-check'

const surrogatesFrom = 0xd800
const surrogates = 0x800

/**
 * Any character there is, as a unit of `fc.string`. The `binary` unit of fast-check is the same, but puts all million of
 * them into a table first, and that is more work than most tests are.
 */
export const anyCodePoint: fc.Arbitrary<string> = fc
  .nat(0x10ffff - surrogates)
  .map((n) => String.fromCodePoint(n < surrogatesFrom ? n : n + surrogates))
