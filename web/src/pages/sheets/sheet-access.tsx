import type { SheetSummary } from '../../../../src/dashboard/contract.ts'
import { Choices } from '../../ui/field.tsx'
import { shownNumber } from '../../ui/number.ts'
import { Badge } from '../../ui/states.tsx'

export type SheetAccess = SheetSummary['access']

/** Only the one that lets strangers in is worth a mark. */
export function AccessBadge({ access }: { access: SheetAccess }) {
  return access === 'public-read' && <Badge tone="warn">Public</Badge>
}

export function AccessChoices({
  value,
  onChange,
}: {
  value: SheetAccess
  onChange(access: SheetAccess): void
}) {
  return (
    <Choices<SheetAccess>
      legend="Who can read"
      name="access"
      value={value}
      onChange={onChange}
      choices={[
        { value: 'private', title: 'Anyone with a key', description: 'Every request needs an API key.' },
        {
          value: 'public-read',
          title: 'Anyone',
          description: 'Reading doesn’t need a key. Writing still does.',
        },
      ]}
    />
  )
}

/** `rowCount`: null where nobody has read them yet. */
export function whatBecomesPublic(rowCount: number | null): string {
  const rows =
    rowCount === 1 ? 'its only row' : rowCount ? `all ${shownNumber(rowCount)} rows` : 'all of its rows'
  return `Anyone with the URL can read ${rows} without a key, including rows added later.`
}
