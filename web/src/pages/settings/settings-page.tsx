import { useSearch } from '@tanstack/react-router'
import { useTitle } from '../../shell/use-title.ts'
import { useSources } from '../../sources.ts'
import { PageHeader } from '../../ui/states.tsx'
import { ConnectionOutcome } from '../connect/connect-source.tsx'
import { AccountSection } from './account-section.tsx'
import { ConnectionSection } from './connection-section.tsx'
import { DangerSection } from './danger-section.tsx'
import { DataSection } from './data-section.tsx'
import { EmailSection } from './email-section.tsx'
import { PasswordSection } from './password-section.tsx'
import { PlanSection } from './plan-section.tsx'
import { SessionsSection } from './sessions-section.tsx'

export function SettingsPage() {
  useTitle('Settings')
  const search = useSearch({ from: '/owners/settings' })
  const { connectable } = useSources()
  return (
    <>
      <PageHeader title="Settings">Manage your account and connections.</PageHeader>
      <ConnectionOutcome search={search} />
      <div>
        {connectable.map((source) => (
          <ConnectionSection key={source.provider} source={source} />
        ))}
        <AccountSection />
        <PlanSection />
        <EmailSection />
        <PasswordSection />
        <SessionsSection />
        <DataSection />
        <DangerSection />
      </div>
    </>
  )
}
