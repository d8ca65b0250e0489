/** What stands between the commas of a function's brackets, and where they end. `start` is right behind the opening one. */
export function callArguments(formula: string, start: number): { texts: string[]; end: number } {
  const texts: string[] = []
  let depth = 0
  let from = start
  let at = start
  for (; at < formula.length; at++) {
    const character = formula[at] ?? ''
    if (character === '"' || character === "'") {
      const close = formula.indexOf(character, at + 1)
      at = close === -1 ? formula.length : close
    } else if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character)) {
      if (depth === 0) break
      depth--
    } else if (character === ',' && depth === 0) {
      texts.push(formula.slice(from, at))
      from = at + 1
    }
  }
  texts.push(formula.slice(from, at))
  return { texts, end: at }
}
