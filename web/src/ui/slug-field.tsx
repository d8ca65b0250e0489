import type { ReactNode } from 'react'
import { problemWithSlug, suggestSlug } from '../../../src/management/accounts/slug.ts'
import { TextField } from './field.tsx'

/** A name in a URL. What cannot be one is said while it is typed, with one that can. */
export function SlugField({
  label,
  value,
  hint,
  error,
  onChange,
}: {
  label: string
  value: string
  hint: ReactNode
  /** What else is wrong with it, such as that it is taken. */
  error?: string | null
  onChange(value: string): void
}) {
  const problem = problemWithSlug(value)
  const suggested = value === '' ? '' : suggestSlug(value, new Set())
  return (
    <>
      <TextField
        label={label}
        required
        autoComplete="off"
        spellCheck={false}
        value={value}
        error={problem ? asSentence(problem) : (error ?? null)}
        hint={hint}
        onChange={({ target }) => onChange(target.value)}
      />
      {problem && suggested !== '' && suggested !== value && (
        <button
          type="button"
          className="mb-3 block text-caption text-accent underline underline-offset-2"
          onClick={() => onChange(suggested)}
        >
          Use “{suggested}”
        </button>
      )}
    </>
  )
}

export function canBeSlug(value: string): boolean {
  return problemWithSlug(value) === null
}

function asSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/; (t)/, '. T')}.`
}
