import type { ReactNode } from 'react'
import { Refused } from '../api.ts'
import { Button } from './button.tsx'

/** Grey bars of about the height of what will come, so that it appears without a jump. */
export function Skeleton({ lines = 3, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="animate-pulse space-y-3 py-1">
      {Array.from({ length: lines }, (_, at) => `line ${at}`).map((key, at) => (
        <div key={key} className={`h-5 rounded bg-line ${at % 3 === 2 ? 'w-2/3' : 'w-full'}`} />
      ))}
      {label !== 'Loading' && <p className="text-caption text-soft">{label}…</p>}
    </div>
  )
}

export function EmptyState({
  title,
  children,
  action,
}: {
  title: string
  children: ReactNode
  action?: ReactNode
}) {
  return (
    <div className="rounded-xl border border-dashed border-line-strong px-6 py-12 text-center">
      <h2 className="text-base font-semibold wrap-anywhere">{title}</h2>
      <p className="mx-auto mt-1 max-w-md text-sm text-balance text-soft ">{children}</p>
      {action && <div className="mt-5 flex justify-center">{action}</div>}
    </div>
  )
}

/** `children`: what is said instead of the error's own words, where there are any. */
export function ErrorState({
  error,
  onRetry,
  children,
}: {
  error: unknown
  onRetry?: () => void
  children?: ReactNode
}) {
  const message = error instanceof Refused ? error.message : children || 'Something went wrong on this page.'
  return (
    <div role="alert" className="rounded-xl border border-bad/40 bg-bad-wash px-5 py-4">
      <p className="text-sm text-bad">{message}</p>
      {onRetry && (
        <Button className="mt-3" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

export function PageHeader({
  title,
  children,
  action,
}: {
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0 flex-1 basis-80">
        {/* It takes the focus after a change of page that leaves it nowhere. */}
        <h1 tabIndex={-1} className="text-2xl font-semibold tracking-tight outline-none">
          {title}
        </h1>
        {children && <div className="mt-1 max-w-2xl text-sm text-pretty text-soft">{children}</div>}
      </div>
      {action}
    </header>
  )
}

export function Card({
  title,
  children,
  action,
  className = '',
}: {
  title?: string
  children: ReactNode
  action?: ReactNode
  className?: string
}) {
  return (
    <section className={`rounded-xl border border-line bg-raised p-5 ${className}`}>
      {title && (
        <div className="mb-3 flex items-center justify-between gap-3">
          <h2 className="text-base font-semibold tracking-tight">{title}</h2>
          {action}
        </div>
      )}
      {children}
    </section>
  )
}

const tones = {
  good: 'text-good bg-good-wash',
  warn: 'text-warn bg-warn-wash',
  bad: 'text-bad bg-bad-wash',
  plain: 'text-soft bg-sunken',
}

export function Badge({ tone, children }: { tone: keyof typeof tones; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center rounded-full px-2.5 py-0.5 text-xs font-medium whitespace-nowrap ring-1 ring-current/15 ring-inset ${tones[tone]}`}
    >
      {tone !== 'plain' && <span aria-hidden="true" className="mr-1.5 size-1.5 rounded-full bg-current" />}
      {children}
    </span>
  )
}
