import { useState } from 'react'
import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { Button } from '../../../ui/button.tsx'
import { FormError, TextField } from '../../../ui/field.tsx'
import { Section } from '../../../ui/section.tsx'
import { useSheetChange } from '../sheet-change.ts'

export function HistorySection({ sheet: { slug, settings } }: { sheet: SheetView }) {
  const [typed, setTyped] = useState<string | null>(null)
  const change = useSheetChange({ onSaved: () => setTyped(null) })
  const shown = typed ?? String(settings.historyDays)
  const isEnding = Number(shown) === 0 && settings.historyDays > 0
  return (
    <Section
      title="History"
      about="Who changed which rows, and when: for the History tab, the log of changes, and Undo."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate({ slug, settings: { historyDays: Number(shown) } })
        }}
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
          <p role="status" className="mb-3 text-caption text-warn">
            Saving deletes the history of this sheet at once. Its writes can’t be undone then.
          </p>
        )}
        <Button type="submit" isBusy={change.isPending}>
          Save
        </Button>
        <FormError>{change.error?.message}</FormError>
      </form>
    </Section>
  )
}
