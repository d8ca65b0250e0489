import { useState } from 'react'
import type { SheetView } from '../../../../src/dashboard/contract.ts'
import { Button } from '../../ui/button.tsx'
import { FormError, Switch, TextField } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { AccessSection } from './access-section.tsx'
import { DisconnectSection } from './disconnect-section.tsx'
import { useSheetChange } from './sheet-change.ts'
import { useSheet } from './sheet-query.ts'

export function SheetSettings() {
  const sheet = useSheet()
  const { settings } = sheet
  return (
    <div>
      <Serving sheet={sheet} />
      <AccessSection sheet={sheet} />
      <Freshness key={`${settings.cacheSeconds} ${settings.staleIfErrorSeconds}`} sheet={sheet} />
      <DisconnectSection sheet={sheet} />
    </div>
  )
}

function Serving({ sheet: { slug, settings } }: { sheet: SheetView }) {
  const change = useSheetChange()
  return (
    <Section title="Serving" about="A paused sheet keeps its address, its keys and its settings.">
      <Switch
        label={settings.paused ? 'Paused' : 'Serving requests'}
        description="Paused, every request is answered with 503 sheet_paused, at once and everywhere."
        checked={!settings.paused}
        disabled={change.isPending}
        onChange={(isServing) => change.mutate({ slug, settings: { paused: !isServing } })}
      />
      <FormError>{change.error?.message}</FormError>
    </Section>
  )
}

function Freshness({ sheet }: { sheet: SheetView }) {
  const change = useSheetChange()
  const [cacheSeconds, setCacheSeconds] = useState(String(sheet.settings.cacheSeconds))
  const [staleSeconds, setStaleSeconds] = useState(String(sheet.settings.staleIfErrorSeconds))
  return (
    <Section
      title="Freshness"
      about="How long rows are served from memory before the spreadsheet is asked again."
    >
      <form
        className="grid grid-cols-1 gap-x-4 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate({
            slug: sheet.slug,
            settings: { cacheSeconds: Number(cacheSeconds), staleIfErrorSeconds: Number(staleSeconds) },
          })
        }}
      >
        <TextField
          label="Keep rows for, seconds"
          type="number"
          min={0}
          max={3600}
          required
          hint="An edit in the spreadsheet shows after at most this long. 0 to 3600."
          value={cacheSeconds}
          onChange={({ target }) => setCacheSeconds(target.value)}
        />
        <TextField
          label="Serve old rows in an outage, seconds"
          type="number"
          min={0}
          max={86400}
          required
          hint="0 = tell clients at once. Up to 86400."
          value={staleSeconds}
          onChange={({ target }) => setStaleSeconds(target.value)}
        />
        <div>
          <Button type="submit" isBusy={change.isPending}>
            Save
          </Button>
          <FormError>{change.error?.message}</FormError>
        </div>
      </form>
    </Section>
  )
}
