const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })

/** "3 minutes ago", with the exact time on hover; `ifNever` where it has not happened. */
export function Ago({ atMs, ifNever = 'never' }: { atMs: number | null; ifNever?: string }) {
  if (atMs === null) return <span className="text-soft">{ifNever}</span>
  return (
    <time dateTime={new Date(atMs).toISOString()} title={exact.format(atMs)}>
      {inWords(atMs, Date.now())}
    </time>
  )
}

export function inWords(atMs: number, nowMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1_000)
  const unit = units.find(([, length]) => Math.abs(seconds) >= length)
  if (!unit) return seconds > 0 ? 'in a moment' : 'just now'
  return relative.format(Math.trunc(seconds / unit[1]), unit[0])
}

/** To the second, for logs. */
export function exactly(atMs: number): string {
  return new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' }).format(atMs)
}

export function dateOf(atMs: number): string {
  return new Intl.DateTimeFormat('en', { dateStyle: 'medium' }).format(atMs)
}

export function timeOf(atMs: number): string {
  return new Intl.DateTimeFormat('en', { timeStyle: 'short' }).format(atMs)
}
