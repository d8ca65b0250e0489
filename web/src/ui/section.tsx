import type { ReactNode } from 'react'

/** A part of a settings page: what it is about on the left, what can be done on the right. */
export function Section({
  id,
  title,
  about,
  isDangerous = false,
  children,
}: {
  /** For links that lead to it. */
  id?: string
  title: string
  about?: ReactNode
  isDangerous?: boolean
  children: ReactNode
}) {
  return (
    <section
      id={id}
      className="grid grid-cols-1 gap-x-8 gap-y-3 border-t border-line py-7 first:border-0 first:pt-0 lg:grid-cols-[16rem_minmax(0,1fr)]"
    >
      <div>
        <h2 className="text-base font-semibold tracking-tight">{title}</h2>
        {about && <p className="mt-1 max-w-prose text-caption text-soft">{about}</p>}
      </div>
      <div
        className={`min-w-0 rounded-xl border bg-raised p-5 ${isDangerous ? 'border-bad/40' : 'border-line'}`}
      >
        {children}
      </div>
    </section>
  )
}
