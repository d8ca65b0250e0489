import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, useId } from 'react'

export interface Around {
  label: string
  hint?: ReactNode
  error?: string | null | undefined
}

const control =
  'w-full rounded-md border bg-raised px-3 h-9 text-sm text-ink transition-colors ' +
  'disabled:opacity-60 aria-invalid:border-bad border-line-strong hover:border-soft'

export function TextField({
  label,
  hint,
  error,
  className = '',
  ...input
}: Around & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <input
        id={id}
        {...input}
        aria-invalid={error ? true : undefined}
        aria-describedby={hasMessages({ hint, error }) ? `${id}-about` : undefined}
        className={`${control} ${className}`}
      />
    </Labelled>
  )
}

export function SelectField({
  label,
  hint,
  error,
  children,
  ...select
}: Around & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <select
        id={id}
        {...select}
        aria-describedby={hasMessages({ hint, error }) ? `${id}-about` : undefined}
        className={`${control} pr-8`}
      >
        {children}
      </select>
    </Labelled>
  )
}

/** What went wrong with the whole form. It takes no room until there is something to say. */
export function FormError({ children }: { children: string | null | undefined }) {
  return (
    <p role="alert" className="my-2 text-caption text-bad empty:hidden">
      {children}
    </p>
  )
}

/** Where there may be a hint or an error, its place is always there, so that a message moves nothing. */
export function Labelled({ id, label, hint, error, children }: Around & { id: string; children: ReactNode }) {
  const keepsPlace = hasMessages({ hint, error })
  return (
    <div className={keepsPlace ? 'pb-2.5' : 'pb-4'}>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      {children}
      {keepsPlace && (
        <p
          id={`${id}-about`}
          aria-live="polite"
          className={`mt-1 min-h-4.5 text-caption/4.5 wrap-anywhere ${error ? 'text-bad' : 'text-soft'}`}
        >
          {error ?? hint}
        </p>
      )}
    </div>
  )
}

export function hasMessages({ hint, error }: Pick<Around, 'hint' | 'error'>): boolean {
  return hint !== undefined || error !== undefined
}

interface Choice<Value extends string> {
  value: Value
  title: string
  description: string
  disabled?: boolean
}

/** A few exclusive choices that each deserve a sentence. */
export function Choices<Value extends string>({
  legend,
  name,
  value,
  choices,
  onChange,
}: {
  legend: string
  name: string
  value: Value
  choices: readonly Choice<Value>[]
  onChange(value: Value): void
}) {
  return (
    <fieldset className="@container min-w-0">
      <legend className="mb-1.5 text-sm font-medium">{legend}</legend>
      <div className="grid grid-cols-1 gap-2 @md:grid-cols-2">
        {choices.map((choice) => (
          <label
            key={choice.value}
            className="flex items-start gap-2.5 rounded-md border border-line-strong bg-raised p-3 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent has-checked:border-accent has-checked:bg-accent-wash has-disabled:opacity-55"
          >
            <input
              type="radio"
              name={name}
              className="mt-1 shrink-0 accent-accent focus-visible:outline-none"
              checked={choice.value === value}
              disabled={choice.disabled}
              onChange={() => onChange(choice.value)}
            />
            <span>
              <span className="block text-sm font-medium">{choice.title}</span>
              <span className="block text-caption text-soft">{choice.description}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

export function Switch({
  label,
  description,
  checked,
  disabled,
  onChange,
}: {
  label: string
  description?: string
  checked: boolean
  disabled?: boolean
  onChange(checked: boolean): void
}) {
  const id = useId()
  return (
    <div className="flex items-start justify-between gap-4">
      <div>
        <label htmlFor={id} className="text-sm font-medium">
          {label}
        </label>
        {description && <p className="text-caption text-soft">{description}</p>}
      </div>
      <button
        id={id}
        type="button"
        role="switch"
        aria-checked={checked}
        disabled={disabled}
        onClick={() => onChange(!checked)}
        className="relative mt-0.5 h-6 w-10 shrink-0 rounded-full border border-line-strong bg-sunken transition-colors aria-checked:border-accent aria-checked:bg-accent disabled:opacity-55"
      >
        <span
          className={`absolute top-0.5 left-0.5 size-[18px] rounded-full transition-transform ${checked ? 'translate-x-4 bg-accent-ink' : 'bg-soft'}`}
        />
      </button>
    </div>
  )
}
