import { Link, type LinkProps } from '@tanstack/react-router'
import type { ButtonHTMLAttributes, ReactNode } from 'react'

type Look = 'primary' | 'secondary' | 'danger' | 'quiet'

const base =
  'inline-flex items-center justify-center gap-2 rounded-md px-3.5 h-9 text-sm font-medium whitespace-nowrap ' +
  'transition-colors disabled:opacity-55 disabled:cursor-not-allowed'
const looks: Record<Look, string> = {
  primary: 'bg-accent text-accent-ink hover:brightness-110 border border-transparent',
  secondary: 'bg-raised text-ink border border-line-strong hover:bg-sunken',
  danger: 'bg-bad-fill text-white border border-transparent hover:brightness-110',
  quiet: 'text-soft hover:text-ink hover:bg-sunken border border-transparent',
}

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & { look?: Look; isBusy?: boolean }

/**
 * While busy it keeps its width and its words, so that nothing moves under the pointer. The second half of a double click sends
 * nothing, also where the first is answered already.
 */
export function Button({
  look = 'secondary',
  isBusy = false,
  children,
  className = '',
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      onClick={(event) => {
        if (rest.type === 'submit' && event.detail > 1) event.preventDefault()
        else rest.onClick?.(event)
      }}
      disabled={rest.disabled || isBusy}
      aria-busy={isBusy || undefined}
      className={`${base} ${looks[look]} ${className}`}
    >
      {isBusy && <Spinner />}
      {children}
    </button>
  )
}

export function ButtonLink({
  look = 'secondary',
  children,
  ...link
}: LinkProps & { look?: Look; children: ReactNode }) {
  return (
    <Link {...link} className={`${base} ${looks[look]}`}>
      {children}
    </Link>
  )
}

/** To a page that is not the app's. */
export function ButtonAnchor({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} className={`${base} ${looks.secondary}`}>
      {children}
    </a>
  )
}

export function Spinner() {
  return (
    <svg viewBox="0 0 16 16" className="size-4 animate-spin" aria-hidden="true">
      <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeWidth="2" opacity="0.25" />
      <path d="M8 2a6 6 0 0 1 6 6" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
    </svg>
  )
}
