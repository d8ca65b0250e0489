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
      about="Row numbers move when people sort or delete. Values of a key column name their row, wherever it stands."
    >
      <SelectField
        label="Rows are named by"
        hint={
          keyColumn === null
            ? 'Every row needs a value there, and no value may be there twice.'
            : 'Writes keep it so. What people type in the spreadsheet is served all the same, with a warning.'
        }
        value={keyColumn === null ? off : named(keyColumn)}
        disabled={change.isPending}
        onChange={({ target }) => {
          const chosen = target.value === off ? null : target.value.slice(named('').length)
          change.mutate({ slug, settings: { keyColumn: chosen } })
        }}
      >
        <option value={off}>Nothing: row numbers only</option>
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
          description="A row that is added without one gets a UUID. Switched off, it is refused."
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
