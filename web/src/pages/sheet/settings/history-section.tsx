import { useState } from 'react'
import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { TextField } from '../../../ui/field.tsx'
import { Section } from '../../../ui/section.tsx'
import { useSheetChange } from '../sheet-change.ts'
import { SavedForm } from './saved-form.tsx'

export function HistorySection({ sheet: { slug, settings } }: { sheet: SheetView }) {
  const [typed, setTyped] = useState<string | null>(null)
  const change = useSheetChange({ onSaved: () => setTyped(null) })
  const shown = typed ?? String(settings.historyDays)
  const isEnding = Number(shown) === 0 && settings.historyDays > 0
  return (
    <Section
      title="History"
      about="Who changed which rows, and when. The History tab, the change log and Undo need it."
    >
      <SavedForm
        change={change}
        onSave={() => change.mutate({ slug, settings: { historyDays: Number(shown) } })}
      >
        <TextField
          label="Keep history for (days)"
          type="number"
          min={0}
          max={365}
          required
          hint="0 keeps none. Maximum 365."
          value={shown}
          onChange={({ target }) => setTyped(target.value)}
        />
        {isEnding && (
          <p role="status" className="col-span-full mb-3 text-caption text-warn">
            Saving deletes this sheet’s history immediately. Past writes can’t be undone after that.
          </p>
        )}
      </SavedForm>
    </Section>
  )
}
