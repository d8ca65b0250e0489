import type { Axis, Point } from './point.ts'
import type { Measured } from './record.ts'

const panel = { width: 210, height: 74 }
const gap = { x: 66, y: 40 }
const [left, top] = [224, 70]
/** A panel shows at least so many factors of ten, or noise would look like growth. */
const leastDecades = 2

const figures = [
  {
    title: 'processor time a request',
    unit: 'time',
    of: [{ kind: '', value: (point: Point) => point.cpuMicroseconds / 1_000 }],
  },
  { title: 'resident memory', unit: 'MB', of: [{ kind: '', value: (point: Point) => point.residentMb }] },
  {
    ...{ title: 'waiting: p50, and p99 dashed', unit: 'time' },
    of: [
      { kind: '', value: (point: Point) => point.p50Ms },
      { kind: ' dashed', value: (point: Point) => point.p99Ms },
    ],
  },
] as const

type Figure = (typeof figures)[number]

/** One request of an axis, with what was measured of it on each store. */
interface Growth {
  axis: Axis
  request: string
  lines: { store: string; points: Point[] }[]
}

/** Small multiples: a line of panels for each request, all scales by factors of ten, so that a slope of one is growth with it. */
export function drawPicture(axes: readonly Axis[], record: readonly Measured[]): string {
  const growths = axes.flatMap((axis) => growthsOf(axis, record))
  const [width, height] = [
    left + figures.length * (panel.width + gap.x),
    top + growths.length * (panel.height + gap.y),
  ]
  const titles = figures.map(({ title }, at) => textAt('title', xOf(at), 46, title))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>Processor time, memory and waiting as rows, columns, sheets, accounts, connections, writers and streams grow</title>',
    `<style>${style}</style>`,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    `<path class="line embedded" d="M16 18h24"/>${textAt('', 46, 22, 'embedded')}`,
    `<path class="line shared" d="M120 18h24"/>${textAt('', 150, 22, 'PostgreSQL + Redis')}`,
    ...titles,
    ...growths.map((growth, at) => rowOf(growth, top + at * (panel.height + gap.y))),
    '</svg>',
    '',
  ].join('\n')
}

const style = `
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 } .faint { fill: #57606a } .end { text-anchor: end } .middle { text-anchor: middle }
.ground { fill: #ffffff } .frame { fill: none; stroke: #d0d7de } .grid { stroke: #eaeef2 }
.line { fill: none; stroke-width: 2 } .embedded { stroke: #0969da } .shared { stroke: #bc4c00 } .dashed { stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .faint { fill: #9198a1 }
  .ground { fill: #0d1117 } .frame { stroke: #3d444d } .grid { stroke: #21262d }
  .embedded { stroke: #4493f8 } .shared { stroke: #f0883e }
}
`

function growthsOf(axis: Axis, record: readonly Measured[]): Growth[] {
  const ofAxis = record.filter((measured) => measured.axis === axis.name)
  if (ofAxis.length === 0) return []
  const isMeasured = (request: string) =>
    ofAxis.some(({ points }) => points.some((point) => point.request === request))
  return axis.drawn.filter(isMeasured).map((request) => ({
    axis,
    request,
    lines: ofAxis.map(({ store, points }) => ({
      store,
      points: points.filter((point) => point.request === request),
    })),
  }))
}

function xOf(figureAt: number): number {
  return left + figureAt * (panel.width + gap.x)
}

function rowOf(growth: Growth, y: number): string {
  const head = [textAt('title', 16, y + 22, growth.axis.name), textAt('', 16, y + 40, growth.request)]
  return [...head, ...figures.map((figure, at) => panelOf(figure, growth, xOf(at), y))].join('\n')
}

function panelOf({ of, unit }: Figure, { lines }: Growth, x: number, y: number): string {
  const points = lines.flatMap((line) => line.points)
  const across = decadesOf(
    points.map(({ at }) => at),
    1,
  )
  const up = decadesOf(
    points.flatMap((point) => of.map(({ value }) => value(point))),
    leastDecades,
  )
  const atX = (value: number) => x + across.share(value) * panel.width
  const atY = (value: number) => y + panel.height - up.share(value) * panel.height
  const grid = up.marks.map((mark) => `<path class="grid" d="M${x} ${atY(mark).toFixed(1)}h${panel.width}"/>`)
  const marks = up.marks.map((mark) => textAt('faint end', x - 5, atY(mark) + 4, labelOf(mark, unit)))
  const sizes = across.marks.map((mark) =>
    textAt('faint middle', atX(mark), y + panel.height + 15, sizeLabel(mark)),
  )
  const paths = lines.flatMap((line) =>
    of.map(({ kind, value }) => {
      const places = line.points.map((point) => `${atX(point.at).toFixed(1)} ${atY(value(point)).toFixed(1)}`)
      return `<path class="line ${line.store}${kind}" d="M${places.join('L')}"/>`
    }),
  )
  const frame = `<rect class="frame" x="${x}" y="${y}" width="${panel.width}" height="${panel.height}"/>`
  return [...grid, frame, ...marks, ...sizes, ...paths].join('\n')
}

/** From the power of ten below all values to the one above them. */
function decadesOf(values: readonly number[], least: number) {
  const exponents = values.filter((value) => value > 0).map((value) => Math.log10(value))
  const from = Math.floor(Math.min(...exponents))
  const to = Math.max(from + least, Math.ceil(Math.max(...exponents)))
  const marks = Array.from({ length: to - from + 1 }, (_, at) => 10 ** (from + at))
  return { marks, share: (value: number) => (Math.log10(Math.max(value, 10 ** from)) - from) / (to - from) }
}

function labelOf(mark: number, unit: Figure['unit']): string {
  if (unit === 'MB') return mark >= 1_000 ? `${mark / 1_000} GB` : `${mark} MB`
  if (mark >= 1_000) return `${mark / 1_000} s`
  return mark >= 1 ? `${mark} ms` : `${Math.round(mark * 1_000)} µs`
}

function sizeLabel(size: number): string {
  if (size >= 1_000_000) return `${size / 1_000_000}M`
  return size >= 1_000 ? `${size / 1_000}k` : `${size}`
}

function textAt(kind: string, x: number, y: number, text: string): string {
  return `<text${kind && ` class="${kind}"`} x="${x.toFixed(1)}" y="${y.toFixed(1)}">${text}</text>`
}
