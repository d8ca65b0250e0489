import { useQuery } from '@tanstack/react-query'
import type { AuditEntryView } from '../../../../src/dashboard/contract.ts'
import { auditQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { DensitySwitch, useIsDense } from '../../ui/list/density.tsx'
import { useFirst } from '../../ui/list/list-tools.tsx'
import { EmptyState, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { Ago, dateOf } from '../../ui/time.tsx'

const words: Record<string, string> = {
  'account.created': 'Account created',
  'account.plan_changed': 'Plan changed',
  'account.link_created': 'Sign-in link created',
  'account.renamed': 'Account URL changed',
  'account.password_changed': 'Password changed',
  'account.password_reset': 'Password reset by email',
  'account.email_verified': 'Email verified',
  'account.email_changed': 'Email changed',
  'account.alerts_changed': 'Email alerts changed',
  'account.signed_out_everywhere': 'Signed out everywhere',
  'sheet.connected': 'Sheet connected',
  'sheet.changed': 'Sheet settings changed',
  'sheet.paused': 'Sheet paused',
  'sheet.resumed': 'Sheet resumed',
  'sheet.disconnected': 'Sheet disconnected',
  'key.created': 'API key created',
  'key.changed': 'API key changed',
  'key.revoked': 'API key revoked',
  'key.regenerated': 'API key regenerated',
  'key.rotated': 'API key rotated',
  'form.created': 'Form created',
  'form.changed': 'Form changed',
  'form.opened': 'Form opened',
  'form.closed': 'Form closed',
  'form.deleted': 'Form deleted',
  'form.entry_released': 'Form entry released',
  'form.entry_discarded': 'Form entry discarded',
  'webhook.added': 'Webhook added',
  'webhook.changed': 'Webhook changed',
  'webhook.paused': 'Webhook paused',
  'webhook.resumed': 'Webhook resumed',
  'webhook.rotated': 'Webhook secret rotated',
  'webhook.replayed': 'Webhook sent again',
  'webhook.removed': 'Webhook removed',
  'webhook.turned_off': 'Webhook turned off',
  'file.uploaded': 'File uploaded',
  'file.replaced': 'File replaced',
  'file.renamed': 'File renamed',
  'file.deleted': 'File deleted',
  'connection.made': 'Connection made',
  'connection.ended': 'Connection ended',
}

const actors = { owner: 'Dashboard', operator: 'Command line', rowport: 'Rowport' }

export function AuditPage() {
  useTitle('Audit log')
  const audit = useQuery(auditQuery)
  const { shown, more } = useFirst(audit.data ?? [])
  const isDense = useIsDense(audit.data?.length ?? 0)
  return (
    <>
      <PageHeader title="Audit log" action={<DensitySwitch count={audit.data?.length ?? 0} />}>
        Who changed a setting, key or connection, when and from where. Includes changes by command.
      </PageHeader>
      {audit.isPending && <Skeleton lines={8} />}
      {audit.error && !audit.data && <ErrorState error={audit.error} onRetry={() => audit.refetch()} />}
      {audit.data?.length === 0 && (
        <EmptyState title="Nothing has changed yet">Changes from now on appear here.</EmptyState>
      )}
      {shown.length > 0 && (
        <DataTable
          caption="Changes, newest first"
          isDense={isDense}
          rows={shown}
          keyOf={({ id }) => id}
          columns={[
            { title: 'When', cell: ({ atMs }) => <Ago atMs={atMs} /> },
            { title: 'What', cell: (entry) => <What of={entry} /> },
            {
              title: 'By',
              cell: ({ actor, address }) => (
                <>
                  {actors[actor]}
                  {address && <span className="block font-mono text-xs text-soft">{address}</span>}
                </>
              ),
            },
          ]}
        />
      )}
      {more}
    </>
  )
}

function What({ of: { action, subject, details } }: { of: AuditEntryView }) {
  return (
    <>
      <span className="wrap-anywhere">
        {words[action] ?? action}
        {subject && (
          <>
            : <span className="font-medium">{subject}</span>
          </>
        )}
      </span>
      {details && (
        <span className="block text-caption wrap-anywhere text-soft">
          {Object.entries(details)
            .map(([name, value]) => `${nameOf(name)}: ${shownValue(name, value)}`)
            .join(', ')}
        </span>
      )}
    </>
  )
}

/** `cacheSeconds` → cache seconds. */
function nameOf(name: string): string {
  return name
    .replace(/AtMs$/, '')
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll('-', ' ')
}

function shownValue(name: string, value: unknown): string {
  if (value === null) return 'none'
  return name.endsWith('AtMs') && typeof value === 'number' ? dateOf(value) : String(value)
}
