import { useState } from 'react'
import { useSession } from '../../session.ts'
import { CodeBlock, CopyLine } from '../../ui/copy.tsx'
import { Fact } from '../../ui/fact.tsx'
import { shownNumber } from '../../ui/number.ts'
import { Segmented } from '../../ui/segmented.tsx'
import { Card } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useSheet } from './sheet-query.ts'
import { snippetsFor } from './snippets.ts'

export function Overview() {
  const sheet = useSheet()
  const { server } = useSession()
  const snippets = snippetsFor(sheet, server.baseUrl)
  const [shown, setShown] = useState(snippets[0]?.name)
  const code = snippets.find(({ name }) => name === shown)?.code ?? ''
  return (
    <div className="space-y-6">
      <Card title="Addresses">
        <p className="mb-1 text-[13px] text-soft">By name: a bare list of rows</p>
        <CopyLine text={`${server.baseUrl}${sheet.paths.formA}`} label="Address by name" />
        <p className="mt-3 mb-1 text-[13px] text-soft">
          By id: rows with totals and meta data; stays when the sheet’s or the account’s address changes
        </p>
        <CopyLine text={`${server.baseUrl}${sheet.paths.formB}`} label="Address by id" />
      </Card>
      <Card title="Use it">
        <div className="mb-3">
          <Segmented
            label="Language"
            value={shown ?? ''}
            choices={snippets.map(({ name }) => ({ value: name, title: name }))}
            onChange={setShown}
          />
        </div>
        <CodeBlock code={code} label={`${shown} example`} />
      </Card>
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <Fact name="Rows">{sheet.rowCount === null ? 'not read yet' : shownNumber(sheet.rowCount)}</Fact>
        <Fact name="Columns">{sheet.columns.length}</Fact>
        <Fact name="All requests this month, errors too">{shownNumber(sheet.requestsThisMonth)}</Fact>
        <Fact name="Last request">
          <Ago atMs={sheet.lastRequestAtMs} />
        </Fact>
      </dl>
    </div>
  )
}
