import { TextField } from './field.tsx'

/** What a password must be is said here, wherever somebody chooses one. */
export function NewPasswordField({
  label,
  value,
  error,
  onChange,
}: {
  label: string
  value: string
  error: string | null
  onChange(value: string): void
}) {
  return (
    <TextField
      label={label}
      type="password"
      autoComplete="new-password"
      required
      minLength={10}
      hint="At least 10 characters."
      value={value}
      error={error}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}
