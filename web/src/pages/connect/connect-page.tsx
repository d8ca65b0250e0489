import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { SheetSource } from '../../../../src/dashboard/contract.ts'
import { connectionQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { type ConnectableSource, useSources } from '../../sources.ts'
import { Button } from '../../ui/button.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { ChooseFile } from './choose-file.tsx'
import { ChooseSpreadsheet } from './choose-spreadsheet.tsx'
import { ConnectionOutcome, ConnectSource } from './connect-source.tsx'
import { NameAndPreview } from './name-and-preview.tsx'

/** Source → spreadsheet → tab → address and preview; nothing is saved before the last step. */
export function ConnectPage() {
  useTitle('Connect a sheet')
  const { offered, connectable } = useSources()
  const search = useSearch({ from: '/owners/connect' })
  const [provider, setProvider] = useState(offered[0]?.provider ?? '')
  const [source, setSource] = useState<SheetSource | null>(null)
  const home = connectable.find((one) => one.provider === provider)

  return (
    <>
      <PageHeader title="Connect a sheet">
        {home
          ? 'The rows stay where they are; Rowport reads and writes them there.'
          : 'Rowport reads and writes the rows in a copy of your file.'}
      </PageHeader>
      <ConnectionOutcome search={search} />
      {offered.length > 1 && (
        <div className="mb-6">
          <Segmented
            label="Where the sheet is"
            value={provider}
            choices={offered.map(({ provider: value, title }) => ({ value, title }))}
            onChange={(choice) => {
              setProvider(choice)
              setSource(null)
            }}
          />
        </div>
      )}
      {source ? (
        <>
          <Button look="quiet" className="mb-4 -ml-3" onClick={() => setSource(null)}>
            ← Choose another
          </Button>
          <NameAndPreview source={source} />
        </>
      ) : home ? (
        <ChooseAt key={provider} home={home} picked={search.picked ?? ''} onChosen={setSource} />
      ) : (
        <ChooseFile onChosen={setSource} />
      )}
    </>
  )
}

function ChooseAt({
  home,
  picked,
  onChosen,
}: {
  home: ConnectableSource
  picked: string
  onChosen(source: SheetSource): void
}) {
  const connection = useQuery(connectionQuery(home.provider))
  if (connection.isPending) return <Skeleton lines={5} />
  if (connection.error) return <ErrorState error={connection.error} onRetry={() => connection.refetch()} />
  return connection.data.connection?.state === 'valid' ? (
    <ChooseSpreadsheet
      source={home}
      connection={connection.data.connection}
      justPicked={picked.split(',').filter(Boolean)}
      onChosen={onChosen}
    />
  ) : (
    <ConnectSource source={home} view={connection.data} returnTo="/connect" />
  )
}
