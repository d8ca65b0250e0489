import { useSearch } from '@tanstack/react-router'
import { useTitle } from '../../shell/use-title.ts'
import { PageHeader } from '../../ui/states.tsx'
import { GoogleOutcome } from '../connect/connect-google.tsx'
import { AccountSection } from './account-section.tsx'
import { DangerSection } from './danger-section.tsx'
import { DataSection } from './data-section.tsx'
import { GoogleSection } from './google-section.tsx'
import { PasswordSection } from './password-section.tsx'
import { PlanSection } from './plan-section.tsx'
import { SessionsSection } from './sessions-section.tsx'

export function SettingsPage() {
  useTitle('Settings')
  const { google } = useSearch({ from: '/owners/settings' })
  return (
    <>
      <PageHeader title="Settings">Your account, and what it is connected to.</PageHeader>
      {google && <GoogleOutcome code={google} />}
      <div>
        <GoogleSection />
        <AccountSection />
        <PlanSection />
        <PasswordSection />
        <SessionsSection />
        <DataSection />
        <DangerSection />
      </div>
    </>
  )
}
