import type { Axis, Point, StoreKind } from './point.ts'
import type { Measured } from './record.ts'
import { figureText, storeNames, timeText } from './table.ts'

/** Up to this it is called flat: so much comes and goes between neighbors on one machine, so a size counts only if all behind it grow too. */
const flatUpTo = 1.5

/** A table of where processor time a request stops being flat, for each request of each axis. */
export function flatnessOf(axes: readonly Axis[], record: readonly Measured[]): string {
  const stores = [...new Set(record.map(({ store }) => store))]
  const lines = [
    `Processor time a request, of PostgreSQL and Redis too, is flat as long as it is at most ${flatUpTo} times that of the smallest size.`,
    '',
    `| | | ${stores.map((store) => storeNames[store]).join(' | ')} |`,
    `|---|---|${'---|'.repeat(stores.length)}`,
  ]
  for (const axis of axes) {
    const ofAxis = record.filter((measured) => measured.axis === axis.name)
    const requests = new Set(ofAxis.flatMap(({ points }) => points.map(({ request }) => request)))
    for (const [index, request] of [...requests].entries()) {
      const cells = stores.map((store) => inWords(pointsOf(ofAxis, store, request)))
      lines.push(`| ${index === 0 ? axis.name : ''} | ${request} | ${cells.join(' | ')} |`)
    }
  }
  return lines.join('\n')
}

function pointsOf(ofAxis: readonly Measured[], store: StoreKind, request: string): Point[] {
  const points = ofAxis.find((measured) => measured.store === store)?.points ?? []
  return points.filter((point) => point.request === request).sort((one, other) => one.at - other.at)
}

function inWords(points: readonly Point[]): string {
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last || first === last) return ''
  const ratio = (point: Point) => processorMs(point) / processorMs(first)
  const flatTo = points.findLast((point) => ratio(point) <= flatUpTo) ?? first
  const range = `${timeText(processorMs(first))} at ${sizeText(first)}, ${timeText(processorMs(last))} at ${sizeText(last)}`
  if (flatTo === last) return ratio(last) < 1 / flatUpTo ? `falls: ${range}` : `flat: ${range}`
  return `flat to ${sizeText(flatTo)}, then up: ${range} (${figureText(ratio(last))} × for ${sizeText({ at: last.at / first.at })} × as many)`
}

function processorMs({ cpuMicroseconds, storeCpuMicroseconds }: Point): number {
  return (cpuMicroseconds + (storeCpuMicroseconds ?? 0)) / 1_000
}

function sizeText({ at }: Pick<Point, 'at'>): string {
  return at.toLocaleString('en')
}
