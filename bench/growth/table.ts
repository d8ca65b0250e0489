import type { Axis, Point } from './point.ts'
import type { Measured } from './record.ts'

export const storeNames = { embedded: 'embedded', shared: 'PostgreSQL + Redis' } as const

/** One axis as a Markdown table, both stores side by side. */
export function tableOf({ name, unit, about }: Axis, measured: readonly Measured[]): string {
  const ofAxis = measured.filter(({ axis }) => axis === name)
  const requests = [...new Set(ofAxis.flatMap(({ points }) => points.map(({ request }) => request)))]
  const lines = [
    `**${unit}**: ${about}.`,
    '',
    `| | | ${ofAxis.map(({ store }) => `${storeNames[store]}: a second | processor | MB | p50 | p99`).join(' | ')} |`,
    `|---|---|${'---|'.repeat(5 * ofAxis.length)}`,
  ]
  for (const request of requests) {
    const sizes = new Set(
      ofAxis.flatMap(({ points }) => points.filter((point) => point.request === request).map(({ at }) => at)),
    )
    for (const [index, at] of [...sizes].sort((one, other) => one - other).entries()) {
      const cells = ofAxis.map(({ points }) =>
        cellsOf(points.find((point) => point.at === at && point.request === request)),
      )
      lines.push(`| ${index === 0 ? request : ''} | ${at.toLocaleString('en')} | ${cells.join(' | ')} |`)
    }
  }
  return lines.join('\n')
}

function cellsOf(point: Point | undefined): string {
  if (!point) return ' | | | | '
  const { perSecond, cpuMicroseconds, storeCpuMicroseconds, residentMb, p50Ms, p99Ms, refusals } = point
  const isSecond = Number.isNaN(p50Ms)
  const processor = [timeText(cpuMicroseconds / 1_000)]
  if (storeCpuMicroseconds !== null) processor.push(timeText(storeCpuMicroseconds / 1_000))
  return [
    isSecond
      ? ''
      : figureText(perSecond) + (refusals ? ` and ${figureText(refusals * perSecond)} × 503` : ''),
    processor.join(' + '),
    residentMb.toFixed(0),
    isSecond ? '' : timeText(p50Ms),
    isSecond ? '' : timeText(p99Ms),
  ].join(' | ')
}

export function timeText(ms: number): string {
  if (ms < 1) return `${(ms * 1_000).toFixed(0)} µs`
  return ms < 1_000 ? `${figureText(ms)} ms` : `${figureText(ms / 1_000)} s`
}

export function figureText(figure: number): string {
  return figure < 10 ? figure.toFixed(1) : Math.round(figure).toLocaleString('en')
}
