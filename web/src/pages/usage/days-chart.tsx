import type { UsageDay } from '../../../../src/dashboard/contract.ts'
import { shownNumber } from '../../ui/number.ts'

const kinds = [
  { field: 'success', name: 'Success', fill: 'fill-accent', swatch: 'bg-accent' },
  { field: 'clientError', name: 'Client errors', fill: 'fill-warn', swatch: 'bg-warn' },
  { field: 'rateLimited', name: 'Rate-limited', fill: 'fill-soft', swatch: 'bg-soft' },
  { field: 'serverError', name: 'Server errors', fill: 'fill-bad', swatch: 'bg-bad' },
] as const

const height = 160
const gap = 0.22

/** One bar a day, stacked by outcome. The same figures stand in a table for those who cannot see it. */
export function DaysChart({ days }: { days: readonly UsageDay[] }) {
  const busiest = Math.max(0, ...days.map(totalOf))
  const step = stepFor(busiest)
  const most = Math.max(1, Math.ceil(busiest / step)) * step
  const marks = busiest === 0 ? [] : Array.from({ length: most / step + 1 }, (_, at) => at * step)
  return (
    <figure>
      <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2">
        <div className="relative min-w-3 text-right text-xs text-soft tabular-nums" aria-hidden="true">
          {marks.map((mark) => (
            // The widest of them makes the room for all.
            <span key={mark} className="block h-0 overflow-visible">
              <span className="invisible">{shownNumber(mark)}</span>
            </span>
          ))}
          {marks.map((mark) => (
            <span
              key={mark}
              className="absolute right-0 translate-y-1/2"
              style={{ bottom: `${(mark / most) * 100}%` }}
            >
              {shownNumber(mark)}
            </span>
          ))}
        </div>
        <div className="relative">
          <svg
            viewBox={`0 0 ${days.length} ${height}`}
            preserveAspectRatio="none"
            className="h-40 w-full border-b border-line-strong"
            aria-hidden="true"
          >
            {marks.slice(1).map((mark) => (
              <line
                key={mark}
                x1={0}
                x2={days.length}
                y1={height - (mark / most) * height}
                y2={height - (mark / most) * height}
                vectorEffect="non-scaling-stroke"
                className="stroke-line"
              />
            ))}
            {days.map((day, at) => (
              <g key={day.day}>
                <title>{`${day.day}: ${shownNumber(totalOf(day))}`}</title>
                <rect
                  x={at}
                  y={0}
                  width={1}
                  height={height}
                  className="fill-transparent hover:fill-sunken/60"
                />
                <Bar day={day} at={at} most={most} />
              </g>
            ))}
          </svg>
          {busiest === 0 && (
            <p className="absolute inset-x-0 top-0 flex h-40 items-center justify-center text-sm text-soft">
              No requests in this period.
            </p>
          )}
        </div>
        <div className="relative col-start-2 mt-1 h-4 text-xs text-soft tabular-nums" aria-hidden="true">
          {namedDays(days).map(({ day, at }) => (
            <span
              key={day}
              className="absolute -translate-x-1/2 whitespace-nowrap"
              style={{ left: `${((at + 0.5) / days.length) * 100}%` }}
            >
              {shortDay(day)}
            </span>
          ))}
        </div>
      </div>
      <figcaption className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-caption text-soft">
        {kinds.map(({ field, name, swatch }) => (
          <span key={field} className="flex items-center gap-1.5">
            <span className={`size-2.5 rounded-sm ${swatch}`} />
            {name}
          </span>
        ))}
      </figcaption>
      <div className="sr-only">
        <table>
          <caption>Requests per day</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {kinds.map(({ field, name }) => (
                <th key={field} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map((day) => (
              <tr key={day.day}>
                <th scope="row">{day.day}</th>
                {kinds.map(({ field }) => (
                  <td key={field}>{day[field]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

function Bar({ day, at, most }: { day: UsageDay; at: number; most: number }) {
  let top = height
  return kinds.map(({ field, fill }) => {
    const part = (day[field] / most) * height
    top -= part
    return part === 0 ? null : (
      <rect
        key={field}
        x={at + gap / 2}
        y={top}
        width={1 - gap}
        height={part}
        className={`pointer-events-none ${fill}`}
      />
    )
  })
}

/** 1, 2 or 5 with noughts, so that two to five lines are drawn. */
function stepFor(busiest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, busiest / 4)))
  return [1, 2, 5, 10].map((times) => times * power).find((step) => busiest / step <= 5) ?? 10 * power
}

/** Four or five of them, neither at the very edge: more would touch each other on a narrow screen. */
function namedDays(days: readonly UsageDay[]): { day: string; at: number }[] {
  const every = Math.max(1, Math.round(days.length / 5))
  return days
    .map(({ day }, at) => ({ day, at }))
    .filter(({ at }) => at % every === Math.floor(every / 2) || days.length === 1)
}

/** `Nov 5`, as everywhere in the dashboard. */
function shortDay(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString('en-US', {
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  })
}

function totalOf({ success, clientError, rateLimited, serverError }: UsageDay): number {
  return success + clientError + rateLimited + serverError
}
