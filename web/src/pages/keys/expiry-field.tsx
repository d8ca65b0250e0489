import { TextField } from '../../ui/field.tsx'

/** A day, to its end in this browser's time zone; without one the key works until it is revoked. */
export function ExpiryField({
  expiresAtMs,
  error,
  onChange,
}: {
  expiresAtMs: number | null
  error?: string | null
  onChange(expiresAtMs: number | null): void
}) {
  return (
    <TextField
      label="Expires"
      type="date"
      hint="Optional. Without a date, the key works until you revoke it."
      error={error}
      min={dayOf(Date.now())}
      value={expiresAtMs === null ? '' : dayOf(expiresAtMs)}
      onChange={({ target }) => onChange(target.value === '' ? null : endOf(target.value))}
    />
  )
}

/** `2026-11-15`, here. */
function dayOf(atMs: number): string {
  const date = new Date(atMs)
  const two = (part: number) => String(part).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

function endOf(day: string): number {
  return new Date(`${day}T23:59:59`).getTime()
}
