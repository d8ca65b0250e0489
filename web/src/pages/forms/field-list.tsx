import { useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import type { FieldDraft } from './form-draft.ts'
import { TextArea } from './text-area.tsx'

const kinds: readonly { kind: FieldDraft['kind']; label: string }[] = [
  { kind: 'text', label: 'Short text' },
  { kind: 'long', label: 'Long text' },
  { kind: 'email', label: 'Email' },
  { kind: 'number', label: 'Number' },
  { kind: 'date', label: 'Date' },
  { kind: 'choice', label: 'Choice' },
  { kind: 'checkbox', label: 'Yes or no' },
]

/** The fields in their order, each with all that can be said about it. */
export function FieldList({
  fields,
  error,
  onChange,
}: {
  fields: readonly FieldDraft[]
  error: string | null
  onChange(fields: readonly FieldDraft[]): void
}) {
  const list = useRef<HTMLOListElement>(null)
  const [moved, setMoved] = useState<{ column: string; by: 'up' | 'down'; at: number } | null>(null)
  // A button that was moved with its field has lost the focus.
  useEffect(() => {
    if (!moved) return
    const item = list.current?.children[moved.at]
    const buttons = [...(item?.querySelectorAll<HTMLButtonElement>('button[data-move]:not(:disabled)') ?? [])]
    const same = buttons.find(({ dataset }) => dataset.move === moved.by)
    ;(same ?? buttons[0])?.focus()
  }, [moved])
  const move = (at: number, by: 'up' | 'down') => {
    const to = by === 'up' ? at - 1 : at + 1
    const field = fields[at]
    if (!field || to < 0 || to >= fields.length) return
    onChange(fields.toSpliced(at, 1).toSpliced(to, 0, field))
    setMoved({ column: field.label, by, at: to })
  }
  return (
    <>
      <ol ref={list} className="space-y-3">
        {fields.map((field, at) => (
          <li key={field.column} className="rounded-lg border border-line p-4 pb-3">
            <FieldCard
              field={field}
              isFirst={at === 0}
              isLast={at === fields.length - 1}
              onChange={(changed) => onChange(fields.with(at, changed))}
              onMove={(by) => move(at, by)}
              onRemove={() => onChange(fields.toSpliced(at, 1))}
            />
          </li>
        ))}
      </ol>
      <p role="alert" className="mt-2 text-caption text-bad empty:hidden">
        {error}
      </p>
      <p aria-live="polite" className="sr-only">
        {moved && `${moved.column} is now number ${moved.at + 1} of ${fields.length}.`}
      </p>
    </>
  )
}

function FieldCard({
  field,
  isFirst,
  isLast,
  onChange,
  onMove,
  onRemove,
}: {
  field: FieldDraft
  isFirst: boolean
  isLast: boolean
  onChange(field: FieldDraft): void
  onMove(by: 'up' | 'down'): void
  onRemove(): void
}) {
  const { column, label, help, kind, isRequired, choices } = field
  const small = 'h-7! px-2! text-caption!'
  return (
    <>
      <div className="mb-3 flex items-center gap-1">
        <span className="mr-auto min-w-0 truncate font-mono text-caption text-soft" title={column}>
          {column}
        </span>
        <Button look="quiet" className={small} data-move="up" disabled={isFirst} onClick={() => onMove('up')}>
          <span aria-hidden="true">↑</span>
          <span className="sr-only">Move {label} up</span>
        </Button>
        <Button
          look="quiet"
          className={small}
          data-move="down"
          disabled={isLast}
          onClick={() => onMove('down')}
        >
          <span aria-hidden="true">↓</span>
          <span className="sr-only">Move {label} down</span>
        </Button>
        <Button look="quiet" className={small} onClick={onRemove}>
          Remove<span className="sr-only"> {label}</span>
        </Button>
      </div>
      <div className="grid grid-cols-1 gap-x-3 sm:grid-cols-[minmax(0,1fr)_9rem]">
        <TextField
          label="Label"
          required
          maxLength={200}
          value={label}
          onChange={({ target }) => onChange({ ...field, label: target.value })}
        />
        <SelectField
          label="Kind"
          value={kind}
          onChange={({ target }) => onChange({ ...field, kind: target.value as FieldDraft['kind'] })}
        >
          {kinds.map((each) => (
            <option key={each.kind} value={each.kind}>
              {each.label}
            </option>
          ))}
        </SelectField>
      </div>
      {kind === 'choice' && (
        <TextArea
          label="Choices"
          hint="One per line."
          required
          rows={Math.min(6, Math.max(2, choices.split('\n').length))}
          value={choices}
          onChange={({ target }) => onChange({ ...field, choices: target.value })}
        />
      )}
      <TextField
        label="Help text"
        placeholder="Optional"
        maxLength={500}
        value={help}
        onChange={({ target }) => onChange({ ...field, help: target.value })}
      />
      <label className="flex w-fit items-center gap-2 text-sm">
        <input
          type="checkbox"
          className="accent-accent"
          checked={isRequired}
          onChange={({ target }) => onChange({ ...field, isRequired: target.checked })}
        />
        Required
      </label>
    </>
  )
}
