/** One of the figures of a row, and what it has to be. */
export interface FlooredFigure {
  name: string
  figure: string
  floor: string
  isReached: boolean
}

export function atMost(name: string, figure: number, most: number, unit = ''): FlooredFigure {
  return floored(name, figure, 'at most', most, unit, figure <= most)
}

export function atLeast(name: string, figure: number, least: number, unit = ''): FlooredFigure {
  return floored(name, figure, 'at least', least, unit, figure >= least)
}

/** What was not measured (NaN) has reached nothing. */
function floored(
  name: string,
  figure: number,
  side: string,
  bound: number,
  unit: string,
  isReached: boolean,
): FlooredFigure {
  const behind = unit && ` ${unit}`
  const figureText = Number.isInteger(figure) ? String(figure) : figure.toFixed(2)
  return { name, figure: figureText + behind, floor: `${side} ${bound}${behind}`, isReached }
}
