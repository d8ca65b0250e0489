import type { KeyInput } from '../../../../src/dashboard/contract.ts'
import { useSession } from '../../session.ts'
import { Choices } from '../../ui/field.tsx'

export function ScopeChoices({
  value,
  onChange,
}: {
  value: KeyInput['scope']
  onChange(scope: KeyInput['scope']): void
}) {
  const { account } = useSession()
  const canWrite = account.plan.writeApi
  return (
    <Choices
      legend="Permissions"
      name="scope"
      value={value}
      onChange={onChange}
      choices={[
        { value: 'read', title: 'Read', description: 'Read rows only.' },
        {
          value: 'read-write',
          title: 'Read and write',
          description: canWrite
            ? 'Add, change and delete rows.'
            : 'Your plan is read-only. Upgrade to write.',
          disabled: !canWrite,
        },
      ]}
    />
  )
}
