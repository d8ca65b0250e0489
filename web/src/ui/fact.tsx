import type { ReactNode } from 'react'

/** A figure with its name, in a `<dl>`. */
export function Fact({ name, hint, children }: { name: string; hint?: string; children: ReactNode }) {
  return (
    <div className="rounded-xl border border-line bg-raised px-4 py-3">
      <dt className="text-caption text-soft">{name}</dt>
      <dd className="mt-0.5 font-medium tabular-nums">
        {children}
        {hint && <span className="block text-xs font-normal text-soft">{hint}</span>}
      </dd>
    </div>
  )
}
