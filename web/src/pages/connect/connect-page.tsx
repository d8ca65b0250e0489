import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { SheetSource } from '../../../../src/dashboard/contract.ts'
import { googleQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { useTitle } from '../../shell/use-title.ts'
import { Button } from '../../ui/button.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { ChooseFile } from './choose-file.tsx'
import { ChooseSpreadsheet } from './choose-spreadsheet.tsx'
import { ConnectGoogle, GoogleOutcome } from './connect-google.tsx'
import { NameAndPreview } from './name-and-preview.tsx'

type Kind = 'google' | 'file'

/** Source → spreadsheet → tab → address and preview; nothing is saved before the last step. */
export function ConnectPage() {
  useTitle('Connect a sheet')
  const { server } = useSession()
  const { google: outcome, picked = '' } = useSearch({ from: '/owners/connect' })
  const google = useQuery(googleQuery)
  const [kind, setKind] = useState<Kind>(server.hasGoogle ? 'google' : 'file')
  const [source, setSource] = useState<SheetSource | null>(null)

  return (
    <>
      <PageHeader title="Connect a sheet">
        {kind === 'google'
          ? 'The rows stay where they are; Rowport reads and writes them there.'
          : 'Rowport reads and writes the rows in a copy of your file.'}
      </PageHeader>
      {outcome && <GoogleOutcome code={picked && outcome === 'reconnected' ? 'chosen' : outcome} />}
      {server.hasGoogle && server.hasFiles && (
        <div className="mb-6">
          <Segmented<Kind>
            label="Where the sheet is"
            value={kind}
            choices={[
              { value: 'google', title: 'Google Sheets' },
              { value: 'file', title: 'A file' },
            ]}
            onChange={(choice) => {
              setKind(choice)
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
      ) : kind === 'file' ? (
        <ChooseFile onChosen={setSource} />
      ) : google.isPending ? (
        <Skeleton lines={5} />
      ) : google.error ? (
        <ErrorState error={google.error} onRetry={() => google.refetch()} />
      ) : google.data.connection?.state === 'valid' ? (
        <ChooseSpreadsheet
          connection={google.data.connection}
          justPicked={picked.split(',').filter(Boolean)}
          onChosen={setSource}
        />
      ) : (
        <ConnectGoogle view={google.data} returnTo="/connect" />
      )}
    </>
  )
}
