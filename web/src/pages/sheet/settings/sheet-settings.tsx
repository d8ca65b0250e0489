import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { FormError, Switch } from '../../../ui/field.tsx'
import { Section } from '../../../ui/section.tsx'
import { useSheetChange } from '../sheet-change.ts'
import { useSheet } from '../sheet-query.ts'
import { AccessSection } from './access-section.tsx'
import { CachingSection } from './caching-section.tsx'
import { DisconnectSection } from './disconnect-section.tsx'
import { EncodingSection } from './encoding-section.tsx'
import { HistorySection } from './history-section.tsx'
import { KeyColumnSection } from './key-column-section.tsx'
import { NameSection } from './name-section.tsx'
import { WatchingSection } from './watching-section.tsx'

export function SheetSettings() {
  const sheet = useSheet()
  return (
    <div>
      <Serving sheet={sheet} />
      <AccessSection sheet={sheet} />
      <KeyColumnSection sheet={sheet} />
      <CachingSection sheet={sheet} />
      <HistorySection sheet={sheet} />
      <WatchingSection sheet={sheet} />
      {sheet.source.encodings.length > 0 && <EncodingSection sheet={sheet} />}
      <NameSection sheet={sheet} />
      <DisconnectSection sheet={sheet} />
    </div>
  )
}

function Serving({ sheet: { slug, settings } }: { sheet: SheetView }) {
  const change = useSheetChange()
  return (
    <Section title="Serving" about="A paused sheet keeps its URL, keys and settings.">
      <Switch
        label={settings.paused ? 'Paused' : 'Serving requests'}
        description="While paused, every request returns 503 sheet_paused."
        checked={!settings.paused}
        disabled={change.isPending}
        onChange={(isServing) => change.mutate({ slug, settings: { paused: !isServing } })}
      />
      <FormError>{change.error?.message}</FormError>
    </Section>
  )
}
