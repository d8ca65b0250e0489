import assert from 'node:assert/strict'

type Measure<Figures> = () => Promise<Figures>
/** Says what was missed and by which figures, or null. */
type ProblemWith<Figures> = (figures: Figures) => string | null

/**
 * One hiccup of the machine is no finding: what misses its bound is measured once more, and fails when it misses twice in a row.
 * The failure tells both.
 */
export function holdsOfTwo<Figures>(measure: Measure<Figures>, problemWith: ProblemWith<Figures>) {
  return holdsInTries(2, measure, problemWith)
}

/**
 * For work of a few milliseconds, beside other test files: there a hiccup is as long as the bound, and several in a row are common.
 * Work that became too much misses all five.
 */
export function holdsOfFive<Figures>(measure: Measure<Figures>, problemWith: ProblemWith<Figures>) {
  return holdsInTries(5, measure, problemWith)
}

async function holdsInTries<Figures>(
  tries: number,
  measure: Measure<Figures>,
  problemWith: ProblemWith<Figures>,
): Promise<Figures> {
  const missed: string[] = []
  for (;;) {
    const figures = await measure()
    const problem = problemWith(figures)
    if (problem === null) return figures
    missed.push(problem)
    assert.ok(missed.length < tries, `missed each of ${tries} times: ${missed.join('; then ')}`)
    process.stdout.write(`missed, measured again: ${problem}\n`)
  }
}
