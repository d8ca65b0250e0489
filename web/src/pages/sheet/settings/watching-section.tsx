import { useState } from 'react'
import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { TextField } from '../../../ui/field.tsx'
import { Section } from '../../../ui/section.tsx'
import { useSheetChange } from '../sheet-change.ts'
import { SavedForm } from './saved-form.tsx'

/** What somebody types stays, whatever another tab saves meanwhile. */
export function WatchingSection({ sheet: { slug, settings } }: { sheet: SheetView }) {
  const saved = String(settings.watchSeconds)
  const [typed, setTyped] = useState<string | null>(null)
  const change = useSheetChange({ onSaved: () => setTyped(null) })
  const shown = typed ?? saved
  return (
    <Section
      title="Checking for edits"
      about="Edits in the spreadsheet reach the change log when Rowport next reads it. While a client follows changes, that’s every 15 seconds."
    >
      <SavedForm
        change={change}
        onSave={() => change.mutate({ slug, settings: { watchSeconds: Number(shown) } })}
      >
        <TextField
          label="Check for edits every (seconds)"
          type="number"
          min={0}
          max={3600}
          required
          hint="5–3,600. 0 checks only while a client follows changes."
          value={shown}
          onChange={({ target }) => setTyped(target.value)}
        />
      </SavedForm>
    </Section>
  )
}
