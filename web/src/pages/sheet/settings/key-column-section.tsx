import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { FormError, SelectField, Switch } from '../../../ui/field.tsx'
import { Section } from '../../../ui/section.tsx'
import { useSheetChange } from '../sheet-change.ts'

/** Which column names the rows. The server looks at the sheet and says why one cannot. */
export function KeyColumnSection({ sheet: { slug, settings, columns } }: { sheet: SheetView }) {
  const { keyColumn, autoKey } = settings
  const change = useSheetChange()
  const isGone = keyColumn !== null && !columns.some(({ name }) => name === keyColumn)
  return (
    <Section
      title="Key column"
      about="Row numbers change when people sort or delete rows. A value in the key column always means the same row."
    >
      <SelectField
        label="Rows are identified by"
        hint={
          keyColumn === null
            ? 'Every row needs a value in the key column, and no two rows can share one.'
            : 'Writes that would break this are rejected. Rows that people break in the spreadsheet are still served, with a warning.'
        }
        value={keyColumn === null ? off : named(keyColumn)}
        disabled={change.isPending}
        onChange={({ target }) => {
          const chosen = target.value === off ? null : target.value.slice(named('').length)
          change.mutate({ slug, settings: { keyColumn: chosen } })
        }}
      >
        <option value={off}>Row number only</option>
        {isGone && <option value={named(keyColumn)}>{`${keyColumn} (no longer in the sheet)`}</option>}
        {columns.map(({ name }) => (
          <option key={name} value={named(name)}>
            {name}
          </option>
        ))}
      </SelectField>
      {keyColumn !== null && (
        <Switch
          label="New rows get a key"
          description="Rows added without a key get a UUID. If this is off, they are rejected."
          checked={autoKey === 'uuid'}
          disabled={change.isPending}
          onChange={(isOn) => change.mutate({ slug, settings: { autoKey: isOn ? 'uuid' : 'none' } })}
        />
      )}
      <FormError>{change.error?.message}</FormError>
    </Section>
  )
}

/** A column may be called anything, also like what stands for none. */
const off = 'off'
const named = (column: string) => `column ${column}`
