import type { LoggedChange } from '../../sheets/logged-change.ts'
import type { Cell } from '../../sheets/rows/grid.ts'

/**
 * Somebody moved rows in the round trip of a write whose answer was lost: it was done once, and not to the row that was meant. What it
 * did is among the differences then. Only where there is one that it can be: a row in which just the cells of the write are others, and are
 * what was written; or the only row that is gone, for the only write that deleted one.
 */
export function* hitInstead(
  differences: readonly LoggedChange[],
  written: readonly LoggedChange[],
): Generator<[difference: LoggedChange, write: LoggedChange]> {
  const left = new Set(differences.filter(({ kind }) => kind === 'updated'))
  for (const write of written) {
    if (write.kind !== 'updated') continue
    const [found, ...more] = [...left].filter((difference) => isFilledBy(write, difference))
    if (!found || more.length > 0) continue
    left.delete(found)
    yield [found, write]
  }
  const [gone, ...moreGone] = differences.filter(({ kind }) => kind === 'deleted')
  const [deletion, ...moreDeletions] = written.filter(({ kind }) => kind === 'deleted')
  if (gone && deletion && moreGone.length + moreDeletions.length === 0) yield [gone, deletion]
}

function isFilledBy(write: LoggedChange, { changed = [], after = '{}' }: LoggedChange): boolean {
  const columns = write.wrote ?? write.changed ?? []
  if (columns.length === 0 || !changed.every((name) => columns.includes(name))) return false
  const [is, wrote] = [JSON.parse(after), JSON.parse(write.after ?? '{}')] as Record<string, Cell>[]
  return columns.every((name) => is?.[name] === wrote?.[name])
}
