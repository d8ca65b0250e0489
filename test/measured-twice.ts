import assert from 'node:assert/strict'

/**
 * One hiccup of the machine is no finding: what misses its bound is measured once more, and fails when it misses twice in a row.
 * `problemWith` says what was missed and by which figures, or null; the failure tells both.
 */
export async function holdsOfTwo<Figures>(
  measure: () => Promise<Figures>,
  problemWith: (figures: Figures) => string | null,
): Promise<Figures> {
  const first = await measure()
  const problem = problemWith(first)
  if (problem === null) return first
  process.stdout.write(`missed once, measured again: ${problem}\n`)
  const second = await measure()
  const again = problemWith(second)
  assert.ok(again === null, `missed twice: first ${problem}; then ${again}`)
  return second
}
