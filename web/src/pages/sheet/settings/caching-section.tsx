import { useState } from 'react'
import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { TextField } from '../../../ui/field.tsx'
import { Section } from '../../../ui/section.tsx'
import { useSheetChange } from '../sheet-change.ts'
import { SavedForm } from './saved-form.tsx'

interface Seconds {
  cache: string
  stale: string
}

/** What somebody types stays, whatever another tab saves meanwhile; then both are shown, and one of them is chosen. */
export function CachingSection({ sheet: { slug, settings } }: { sheet: SheetView }) {
  const saved: Seconds = {
    cache: String(settings.cacheSeconds),
    stale: String(settings.staleIfErrorSeconds),
  }
  const [draft, setDraft] = useState<{ typed: Seconds; onTopOf: Seconds } | null>(null)
  const change = useSheetChange({ onSaved: () => setDraft(null) })
  const shown = draft?.typed ?? saved
  const isChangedElsewhere = draft !== null && !change.isPending && !isSame(draft.onTopOf, saved)
  const type = (part: Partial<Seconds>) =>
    setDraft({ typed: { ...shown, ...part }, onTopOf: draft?.onTopOf ?? saved })
  return (
    <Section
      title="Caching"
      about="How long rows are served from the cache before the spreadsheet is read again."
    >
      <SavedForm
        change={change}
        onSave={() =>
          change.mutate({
            slug,
            settings: { cacheSeconds: Number(shown.cache), staleIfErrorSeconds: Number(shown.stale) },
          })
        }
      >
        <TextField
          label="Cache rows for (seconds)"
          type="number"
          min={0}
          max={3600}
          required
          hint="Edits to the spreadsheet appear within this time (0–3,600)."
          value={shown.cache}
          onChange={({ target }) => type({ cache: target.value })}
        />
        <TextField
          label="Serve stale rows during outages (seconds)"
          type="number"
          min={0}
          max={86400}
          required
          hint="0 returns an error right away. Maximum 86,400."
          value={shown.stale}
          onChange={({ target }) => type({ stale: target.value })}
        />
        {isChangedElsewhere && (
          <p role="status" className="mb-3 text-caption text-warn sm:col-span-2">
            Changed elsewhere to {saved.cache} and {saved.stale}. Saving replaces that.{' '}
            <button type="button" className="underline underline-offset-2" onClick={() => setDraft(null)}>
              Discard my changes
            </button>
          </p>
        )}
      </SavedForm>
    </Section>
  )
}

function isSame(one: Seconds, other: Seconds): boolean {
  return one.cache === other.cache && one.stale === other.stale
}
