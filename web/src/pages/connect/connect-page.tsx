import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { SheetSource } from '../../../../src/dashboard/contract.ts'
import { connectionQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { type ConnectableSource, useSources } from '../../sources.ts'
import { Button } from '../../ui/button.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { ChooseFile } from './choose-file.tsx'
import { ChooseSpreadsheet } from './choose-spreadsheet.tsx'
import { ChooseTab } from './choose-tab.tsx'
import { ConnectionOutcome, ConnectSource } from './connect-source.tsx'
import { NameAndPreview } from './name-and-preview.tsx'
import { PublicLink } from './public-link.tsx'

/** Source → spreadsheet → tab → address and preview; nothing is saved before the last step. */
export function ConnectPage() {
  useTitle('Connect a sheet')
  const { offered, connectable } = useSources()
  const search = useSearch({ from: '/owners/connect' })
  const navigate = useNavigate({ from: '/connect' })
  const isOffered = offered.some(({ provider: known }) => known === search.source)
  // What takes a key that has to be made first is for those who look for it.
  const first = offered.find(({ connection }) => !connection || connection.ways.includes('consent'))
  const provider = (isOffered ? search.source : undefined) ?? (first ?? offered[0])?.provider ?? ''
  const source = chosenIn(provider, search)
  const home = connectable.find((one) => one.provider === provider)
  const step = (part: WizardStep, replace = false) =>
    void navigate({ search: { source: provider, ...part }, replace })
  return (
    <>
      <PageHeader title="Connect a sheet">
        {home
          ? `Your data stays in ${home.title}. Rowport reads and writes it there.`
          : 'Rowport stores a copy of your file, and reads and writes that.'}
      </PageHeader>
      <ConnectionOutcome search={search} />
      {offered.length > 1 && (
        <div className="mb-6">
          <Segmented
            label="Where the sheet is"
            value={provider}
            choices={offered.map(({ provider: value, title }) => ({ value, title }))}
            onChange={(choice) => void navigate({ search: { source: choice } })}
          />
        </div>
      )}
      {source ? (
        <>
          <Button
            look="quiet"
            className="mb-4 -ml-3"
            onClick={() => step('path' in source ? {} : { spreadsheet: source.spreadsheetId })}
          >
            ← Back
          </Button>
          <NameAndPreview source={source} />
        </>
      ) : home ? (
        <ChooseAt key={provider} home={home} search={search} onStep={step} />
      ) : (
        <ChooseFile
          onChosen={(chosen) =>
            'path' in chosen && step({ file: chosen.path, ...(chosen.tab !== null && { tab: chosen.tab }) })
          }
        />
      )}
    </>
  )
}

/** What stands in the URL of a step, so that back, forward and reload land where one was. */
export interface WizardStep {
  /** Its id, or a link as it was pasted. */
  spreadsheet?: string
  file?: string
  tab?: string
}

function chosenIn(provider: string, { spreadsheet, file, tab }: WizardStep): SheetSource | null {
  if (provider === 'file')
    return file === undefined ? null : { provider: 'file', path: file, tab: tab ?? null }
  if (spreadsheet === undefined || tab === undefined || !/^\d+$/.test(tab)) return null
  return { provider, spreadsheetId: spreadsheet, tabId: Number(tab) }
}

/** Who reads what is open to all. */
const everybody = { canSeeAllSpreadsheets: true, shareWith: null }

function ChooseAt({
  home,
  search,
  onStep,
}: {
  home: ConnectableSource
  search: WizardStep & { picked?: string }
  onStep(part: WizardStep, replace?: boolean): void
}) {
  const connection = useQuery(connectionQuery(home.provider))
  if (connection.isPending) return <Skeleton lines={5} />
  // With what was known before, a failure to ask again takes nothing away from what somebody is choosing.
  if (!connection.data) return <ErrorState error={connection.error} onRetry={() => connection.refetch()} />
  if (connection.data.connection?.state !== 'valid') {
    if (home.connection.readsPublic && search.spreadsheet !== undefined)
      return (
        <ChooseTab
          source={home}
          spreadsheet={search.spreadsheet}
          connection={everybody}
          onBack={() => onStep({})}
          onChosen={(id, tabId, isOnly) => onStep({ spreadsheet: id, tab: String(tabId) }, isOnly)}
        />
      )
    return (
      <>
        <ConnectSource source={home} view={connection.data} returnTo="/connect" />
        {home.connection.readsPublic && (
          <PublicLink source={home} onPicked={(picked) => onStep({ spreadsheet: picked })} />
        )}
      </>
    )
  }
  const justPicked = search.picked?.split(',').filter(Boolean) ?? []
  const [only, ...others] = justPicked
  const spreadsheet = search.spreadsheet ?? (others.length === 0 ? only : undefined)
  if (spreadsheet !== undefined)
    return (
      <ChooseTab
        source={home}
        spreadsheet={spreadsheet}
        connection={connection.data.connection}
        onBack={() => onStep({})}
        onChosen={(id, tabId, isOnly) => onStep({ spreadsheet: id, tab: String(tabId) }, isOnly)}
      />
    )
  return (
    <ChooseSpreadsheet
      source={home}
      connection={connection.data.connection}
      justPicked={justPicked}
      onPicked={(picked) => onStep({ spreadsheet: picked })}
    />
  )
}
