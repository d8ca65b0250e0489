import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { NewKeyView } from '../../../../src/dashboard/contract.ts'
import { reach } from '../../api.ts'
import { basePath } from '../../base-path.ts'
import { sheetsQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/copy.tsx'
import { FormError } from '../../ui/field.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { requestSnippets } from '../sheet/snippets.ts'

/** From the server that the page came from, as a client would ask it. */
const sendTest = async ({ path, value }: { path: string; value: string }) => {
  const { response, text } = await reach(`${basePath}${path}?limit=1`, {
    method: 'GET',
    credentials: 'omit',
    cache: 'no-store',
    headers: { Authorization: `Bearer ${value}` },
  })
  return { isGood: response.ok, status: response.status, text: text.slice(0, 500) }
}

/** The moment to see it work: the request is ready to paste, and one click sends it. */
export function TryKey({ made: { key, value } }: { made: NewKeyView }) {
  const { account, server } = useSession()
  const sheets = useQuery(sheetsQuery)
  const slug =
    key.sheetSlug ?? sheets.data?.find(({ state }) => state === 'live')?.slug ?? sheets.data?.[0]?.slug
  const path = `/api/sheets/${account.slug}/${slug}`
  const snippets = [
    ...requestSnippets(`${server.baseUrl}${path}`, value),
    { name: '.env', code: `ROWPORT_KEY=${value}` },
  ]
  const [shown, setShown] = useState('curl')
  const attempt = useMutation({ mutationFn: sendTest })
  if (slug === undefined) return null
  return (
    <div className="mt-5 space-y-3">
      <Segmented
        label="Language"
        value={shown}
        choices={snippets.map(({ name }) => ({ value: name, title: name }))}
        onChange={setShown}
      />
      <CodeBlock
        label={`${shown} with the new key`}
        code={snippets.find(({ name }) => name === shown)?.code ?? ''}
      />
      <Button isBusy={attempt.isPending} onClick={() => attempt.mutate({ path, value })}>
        Send test request
      </Button>
      <div role="status" className="text-caption">
        {attempt.data && (
          <>
            <p className={attempt.data.isGood ? 'text-good' : 'text-bad'}>
              {attempt.data.isGood ? `It works: ${attempt.data.status} OK` : `${attempt.data.status}`}
            </p>
            <pre className="mt-1 font-mono wrap-anywhere whitespace-pre-wrap text-soft">
              {attempt.data.text}
            </pre>
          </>
        )}
      </div>
      <FormError>{attempt.error?.message}</FormError>
    </div>
  )
}
