import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { shownNumber } from '../number.ts'
import type { ChoiceOfFew } from '../segmented.tsx'

const firstShown = 50

/** Above a list: a field to find one by typing, and what narrows it down. `/` leads to it from anywhere on the page. */
export function ListTools({
  label,
  value,
  onChange,
  children,
}: {
  label: string
  value: string
  onChange(value: string): void
  children?: ReactNode
}) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select, dialog')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      input.current?.focus()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  return (
    <div className="mb-4 flex flex-wrap items-center gap-3">
      <span className="relative min-w-40 flex-1 basis-56">
        <Icon name="search" className="pointer-events-none absolute top-2.5 left-2.5 text-soft" />
        <input
          ref={input}
          type="search"
          aria-label={label}
          aria-keyshortcuts="/"
          placeholder={`${label} ( / )`}
          autoComplete="off"
          value={value}
          onChange={({ target }) => onChange(target.value)}
          className="h-9 w-full rounded-md border border-line-strong bg-raised pr-3 pl-8 text-sm"
        />
      </span>
      {children}
    </div>
  )
}

/** The first of a long list, and the way to all of it: most who come look for one of the first, or search. */
export function useFirst<Row>(rows: readonly Row[]): { shown: readonly Row[]; more: ReactNode } {
  const [isAll, setIsAll] = useState(false)
  const isCut = !isAll && rows.length > firstShown
  return {
    shown: isCut ? rows.slice(0, firstShown) : rows,
    more: isCut && (
      <div className="mt-3 text-center">
        <Button onClick={() => setIsAll(true)}>Show all {shownNumber(rows.length)}</Button>
      </div>
    ),
  }
}

/** A choice of few, in a list's tools. */
export function ListChoice<Value extends string>({ label, value, choices, onChange }: ChoiceOfFew<Value>) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value as Value)}
      className="h-9 rounded-md border border-line-strong bg-raised px-3 pr-8 text-sm"
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.title}
        </option>
      ))}
    </select>
  )
}
