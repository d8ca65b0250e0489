import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { FormError, SelectField } from '../../../ui/field.tsx'
import { Section } from '../../../ui/section.tsx'
import { useSheetChange } from '../sheet-change.ts'

/** What a CSV file is in. The server reads it that way and says why it cannot. */
export function EncodingSection({ sheet: { slug, settings, source } }: { sheet: SheetView }) {
  const change = useSheetChange()
  return (
    <Section
      title="Encoding"
      about="A CSV file does not say which characters its bytes stand for. If letters look wrong, name what it was saved in."
    >
      <SelectField
        label="The file is in"
        hint="Unicode is recognized whatever you choose here. Writes keep the file in its encoding, and what it has no character for is refused."
        value={settings.encoding ?? automatic}
        disabled={change.isPending}
        onChange={({ target }) => {
          const encoding = target.value === automatic ? null : target.value
          change.mutate({ slug, settings: { encoding } })
        }}
      >
        <option value={automatic}>Automatic: Unicode or Windows-1252</option>
        {source.encodings.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </SelectField>
      <FormError>{change.error?.message}</FormError>
    </Section>
  )
}

const automatic = 'automatic'
