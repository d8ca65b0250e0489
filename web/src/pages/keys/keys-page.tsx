import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { KeyView, NewKeyView } from '../../../../src/dashboard/contract.ts'
import { keysQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { DensitySwitch, useIsDense } from '../../ui/list/density.tsx'
import { ListChoice, ListTools, useFirst } from '../../ui/list/list-tools.tsx'
import { Badge, EmptyState, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { Ago, dateOf } from '../../ui/time.tsx'
import { AgentAccess } from './agent-lines.tsx'
import { CreateKey } from './create-key.tsx'
import { EditKey } from './edit-key.tsx'
import { EndKey, type KeyEnding } from './end-key.tsx'
import { type KeysSearch, keyFilters, listedKeys } from './key-list.ts'
import { isActive, isUnused } from './key-state.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { PublishableKey } from './publishable-key.tsx'
import { RevokeUnused } from './revoke-unused.tsx'

export function KeysPage() {
  useTitle('API keys')
  const keys = useQuery(keysQuery)
  const search = useSearch({ from: '/owners/keys' })
  const navigate = useNavigate({ from: '/keys' })
  const change = (part: KeysSearch) =>
    void navigate({ search: (former) => ({ ...former, ...part }), replace: true, resetScroll: false })
  const [isCreating, setIsCreating] = useState(false)
  const [made, setMade] = useState<NewKeyView | null>(null)
  const [ending, setEnding] = useState<KeyEnding | null>(null)
  const [editing, setEditing] = useState<KeyView | null>(null)
  const [shownToAgents, setShownToAgents] = useState<KeyView | null>(null)
  const [isPublishing, setIsPublishing] = useState(false)
  const all = keys.data ?? []
  const found = listedKeys(all, search)
  const { shown, more } = useFirst(found)
  const isDense = useIsDense(all.length)
  const unused = all.filter(isUnused)
  const isEnded = search.show === 'ended'
  const list = useFocusKept(found.length)
  const create = (
    <div className="flex flex-wrap gap-2">
      <Button onClick={() => setIsPublishing(true)}>Create publishable key</Button>
      <Button look="primary" onClick={() => setIsCreating(true)}>
        Create key
      </Button>
    </div>
  )
  return (
    <>
      <PageHeader title="API keys" action={all.some(isActive) && create}>
        API keys give your apps access to your sheets. Store them in environment variables, never in
        client-side code or a repository. For a web page, create a publishable key: it does only what you
        allow.
      </PageHeader>
      {keys.isPending && <Skeleton lines={6} />}
      {keys.error && !keys.data && <ErrorState error={keys.error} onRetry={() => keys.refetch()} />}
      {keys.data && !all.some(isActive) && !isEnded && (
        <EmptyState title="No API keys yet" action={create}>
          Apps send a key with every request. Create one per app, so you can revoke one without affecting the
          others.
        </EmptyState>
      )}
      {all.length > 0 && (
        <div className="mt-6 first:mt-0">
          <ListTools
            label="Find a key"
            value={search.q ?? ''}
            onChange={(q) => change({ q: q || undefined })}
          >
            <ListChoice
              label="Show"
              value={search.show ?? 'active'}
              choices={keyFilters}
              onChange={(show) => change({ show: show === 'active' ? undefined : show })}
            />
            {search.show === 'unused' && unused.length > 0 && <RevokeUnused keys={unused} />}
            <DensitySwitch count={all.length} />
          </ListTools>
        </div>
      )}
      {unused.length > 0 && search.show === undefined && (
        <p className="mb-3 text-caption text-soft">
          {unused.length} {unused.length === 1 ? 'key hasn’t' : 'keys haven’t'} been used for 90 days.{' '}
          <button
            type="button"
            className="text-accent underline underline-offset-2"
            onClick={() => change({ show: 'unused' })}
          >
            Show
          </button>
        </p>
      )}
      {all.length > 0 && found.length === 0 && (search.q || search.show) && (
        <p className="rounded-xl border border-dashed border-line-strong py-10 text-center text-sm text-soft">
          No keys match.
        </p>
      )}
      <div ref={list}>
        {found.length > 0 && (
          <DataTable
            caption={isEnded ? 'Revoked and expired API keys' : 'Active API keys'}
            isDense={isDense}
            rows={shown}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Key', cell: (key) => <KeyName of={key} /> },
              {
                title: 'Access',
                cell: ({ sheetSlug }) => (
                  <span className="whitespace-nowrap">{sheetSlug ?? 'all sheets'}</span>
                ),
                isOptional: true,
              },
              {
                title: isEnded ? 'Ended' : 'Created',
                cell: (key) => (
                  <span className="whitespace-nowrap">
                    {dateOf(isEnded ? (key.revokedAtMs ?? key.expiresAtMs ?? 0) : key.createdAtMs)}
                  </span>
                ),
                isOptional: true,
              },
              {
                title: 'Last used',
                cell: ({ lastUsedAtMs }) => <Ago atMs={lastUsedAtMs} />,
                isOptional: true,
              },
              {
                title: 'Actions',
                isActions: true,
                cell: (key) =>
                  isActive(key) && (
                    <div className="-mr-3 flex flex-col items-end md:grid md:grid-cols-2 md:justify-items-end xl:flex xl:flex-row xl:justify-end">
                      <Button look="quiet" onClick={() => setEditing(key)}>
                        Edit<span className="sr-only"> {key.name}</span>
                      </Button>
                      <Button look="quiet" onClick={() => setShownToAgents(key)}>
                        Agents<span className="sr-only"> for {key.name}</span>
                      </Button>
                      <Button look="quiet" onClick={() => setEnding({ key, how: 'regenerate' })}>
                        Regenerate<span className="sr-only"> {key.name}</span>
                      </Button>
                      <Button
                        look="quiet"
                        className="text-bad!"
                        onClick={() => setEnding({ key, how: 'revoke' })}
                      >
                        Revoke<span className="sr-only"> {key.name}</span>
                      </Button>
                    </div>
                  ),
              },
            ]}
          />
        )}
      </div>
      {more}
      <CreateKey
        isOpen={isCreating}
        onClose={() => setIsCreating(false)}
        onMade={(view) => {
          setIsCreating(false)
          setMade(view)
        }}
      />
      <EditKey of={editing?.policy ? null : editing} onClose={() => setEditing(null)} />
      <PublishableKey
        isOpen={isPublishing || editing?.policy != null}
        of={editing}
        onClose={() => {
          setIsPublishing(false)
          setEditing(null)
        }}
      />
      <AgentAccess of={shownToAgents} onClose={() => setShownToAgents(null)} />
      <EndKey
        ending={ending}
        onClose={() => setEnding(null)}
        onMade={(view) => {
          setEnding(null)
          setMade(view)
        }}
      />
      <NewKeyDialog made={made} onClose={() => setMade(null)} />
    </>
  )
}

/** The row that had the focus goes with its key; the next one in its place takes it. */
function useFocusKept(count: number) {
  const list = useRef<HTMLDivElement>(null)
  const place = useRef(0)
  useEffect(() => {
    function note({ target }: FocusEvent) {
      const row = target instanceof Element ? target.closest('tr') : null
      if (row && list.current?.contains(row)) place.current = row.rowIndex - 1
    }
    document.addEventListener('focusin', note)
    return () => document.removeEventListener('focusin', note)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the number of rows that takes one away
  useEffect(() => {
    if (document.activeElement !== document.body) return
    const rows = list.current?.querySelectorAll('tbody tr') ?? []
    const next = rows[Math.min(place.current, rows.length - 1)]?.querySelector('button')
    const heading = document.querySelector<HTMLElement>('main h1')
    ;(next ?? heading)?.focus({ preventScroll: true })
  }, [count])
  return list
}

function KeyName({ of: key }: { of: KeyView }) {
  const { name, mode, scope, sheetSlug, createdAtMs, lastUsedAtMs, expiresAtMs, state, policy } = key
  return (
    <>
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium wrap-anywhere">{name}</span>
        <Badge tone={mode === 'live' ? 'good' : 'plain'}>{mode}</Badge>
        <Badge tone="plain">
          {policy ? policy.may.join(' and ') : scope === 'read' ? 'read' : 'read and write'}
        </Badge>
        {policy && <Badge tone="plain">publishable</Badge>}
        {state !== 'active' && <Badge tone="bad">{state}</Badge>}
        {state === 'active' && isUnused(key) && <Badge tone="warn">unused</Badge>}
      </span>
      <span className="text-soft">
        <ShownKey of={key} />
      </span>
      {state === 'active' && expiresAtMs !== null && (
        <span className="block text-caption text-warn">
          Expires <Ago atMs={expiresAtMs} />
        </span>
      )}
      {/* What the columns say where there is room for them. */}
      <span className="block text-caption text-soft md:hidden">
        Access: {sheetSlug ?? 'all sheets'}. Created {dateOf(createdAtMs)}, last used{' '}
        <Ago atMs={lastUsedAtMs} />.
      </span>
    </>
  )
}

function ShownKey({ of: { shownStart, shownEnd, publicValue } }: { of: KeyView }) {
  if (publicValue !== null) return <CopyLine text={publicValue} label="key" />
  return (
    <code className="font-mono text-caption">
      {shownStart}…{shownEnd}
    </code>
  )
}
