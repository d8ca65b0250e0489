/**
 * Beginnings of paths. What takes longest goes first: whoever begins last with half a minute of work runs alone, and one
 * core has nothing to do.
 */
const longestFirst = [
  'test/browser/dashboard',
  'test/cluster/writing',
  'test/cluster/exactness',
  'test/cluster/reading-after-writing',
  'test/exactness',
  'test/cluster/',
  'test/writing/google-kills',
  'test/writing/kills',
  'test/process/',
  'test/quota-kills',
  'test/google/',
  'test/browser/',
  'test/dashboard/',
  'test/spec/',
  'test/',
]

export function inOrder(files: readonly string[]): string[] {
  const rank = (file: string) => {
    const at = longestFirst.findIndex((beginning) => file.startsWith(beginning))
    return at === -1 ? longestFirst.length : at
  }
  return files.toSorted((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1))
}
