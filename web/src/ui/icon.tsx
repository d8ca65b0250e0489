/** Strokes on a grid of 16, in the color of the text beside them. They help to scan; what they mean is always said in words too. */
const strokes = {
  home: 'M2.5 7.5 8 2.5l5.5 5M4 6.5v7h8v-7M6.5 13.5v-4h3v4',
  sheet: 'M2.5 3h11v10h-11zM2.5 6.5h11M2.5 9.75h11M6.5 3v10',
  file: 'M4 1.75h5l3.5 3.5v9H4zM9 1.75v3.5h3.5',
  key: 'M10.25 9.25a3.5 3.5 0 1 0-3.3-2.3L2 11.9V14h2.5v-1.75h1.75V10.5l1-1a3.5 3.5 0 0 0 3-.25M10.75 5.25h.01',
  form: 'M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h2.5',
  webhook: 'M9 1.75 3.5 9H8l-1 5.25L12.5 7H8z',
  usage: 'M2.5 13.5h11M4.5 13.5V9M8 13.5v-10M11.5 13.5v-7',
  audit: 'M8 1.75a6.25 6.25 0 1 1-5.4 3.1M2.25 2v3h3M8 5v3.25l2.25 1.5',
  settings: 'M2.5 4.5h5M10.5 4.5h3M2.5 11.5h3M8.5 11.5h5M9 3v3M7 10v3',
  docs: 'M8 3.75C6.5 2.75 4.5 2.5 2.5 2.75v9.5c2-.25 4 0 5.5 1 1.5-1 3.5-1.25 5.5-1v-9.5c-2-.25-4 0-5.5 1zm0 0v9.5',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.25 10.25l3.5 3.5',
  copy: 'M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1',
  comfortable: 'M2.5 3h11M2.5 8h11M2.5 13h11',
  compact: 'M2.5 2.75h11M2.5 6.25h11M2.5 9.75h11M2.5 13.25h11',
  done: 'M3 8.5l3.25 3.25L13 5',
  away: 'M9.5 2.5h4v4M13.5 2.5 7.5 8.5M11.5 9.5v4h-9v-9h4',
} as const

export type IconName = keyof typeof strokes

export function Icon({ name, className = '' }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className={`size-4 shrink-0 ${className}`}
    >
      <path d={strokes[name]} />
    </svg>
  )
}
