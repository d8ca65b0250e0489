import { type TextareaHTMLAttributes, useId } from 'react'
import { type Around, hasMessages, Labelled } from '../../ui/field.tsx'

/** For what may have several lines. */
export function TextArea({
  label,
  hint,
  error,
  ...textarea
}: Around & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <textarea
        id={id}
        rows={2}
        {...textarea}
        aria-invalid={error ? true : undefined}
        aria-describedby={hasMessages({ hint, error }) ? `${id}-about` : undefined}
        className="block w-full rounded-md border border-line-strong bg-raised px-3 py-2 text-sm text-ink transition-colors hover:border-soft aria-invalid:border-bad"
      />
    </Labelled>
  )
}
