import type { UsageDay } from '../../../../src/dashboard/contract.ts'
import { shownNumber } from '../../ui/number.ts'

const kinds = [
  { field: 'success', name: 'Success', fill: 'fill-accent', swatch: 'bg-accent' },
  { field: 'clientError', name: 'Client errors', fill: 'fill-warn', swatch: 'bg-warn' },
  { field: 'rateLimited', name: 'Rate limited', fill: 'fill-soft', swatch: 'bg-soft' },
  { field: 'serverError', name: 'Server errors', fill: 'fill-bad', swatch: 'bg-bad' },
] as const

const height = 160
const gap = 0.22

/** One bar a day, stacked by outcome. The same figures stand in a table for those who cannot see it. */
export function DaysChart({ days }: { days: readonly UsageDay[] }) {
  const busiest = Math.max(0, ...days.map(totalOf))
  const most = Math.max(1, busiest)
  return (
    <figure className="relative">
      <svg
        viewBox={`0 0 ${days.length} ${height}`}
        preserveAspectRatio="none"
        className="h-40 w-full border-b border-line-strong"
        aria-hidden="true"
      >
        {days.map((day, at) => (
          <g key={day.day}>
            <title>{`${day.day}: ${shownNumber(totalOf(day))}`}</title>
            <rect x={at} y={0} width={1} height={height} className="fill-transparent hover:fill-sunken" />
            <Bar day={day} at={at} most={most} />
          </g>
        ))}
      </svg>
      {busiest === 0 && (
        <p className="absolute inset-x-0 top-0 flex h-40 items-center justify-center text-sm text-soft">
          No requests in this period.
        </p>
      )}
      <div className="mt-1 flex justify-between text-xs text-soft tabular-nums" aria-hidden="true">
        <span>{days[0]?.day}</span>
        <span>most a day: {shownNumber(busiest)}</span>
        <span>{days.at(-1)?.day}</span>
      </div>
      <figcaption className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-[13px] text-soft">
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

function totalOf({ success, clientError, rateLimited, serverError }: UsageDay): number {
  return success + clientError + rateLimited + serverError
}
