import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useRef, useState } from 'react'
import type { SheetSource } from '../../../../src/dashboard/contract.ts'
import { upload } from '../../api.ts'
import { filesQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/field.tsx'
import { Card, ErrorState, Skeleton } from '../../ui/states.tsx'
import { Sending } from '../files/sending.tsx'

const uploadFile = ({ file, onSent }: { file: File; onSent(share: number): void }) =>
  upload('POST /files', { query: { name: file.name } }, file, onSent)

export function ChooseFile({ onChosen }: { onChosen(source: SheetSource): void }) {
  const queryClient = useQueryClient()
  const input = useRef<HTMLInputElement>(null)
  const inputId = useId()
  const [sentShare, setSentShare] = useState(0)
  const files = useQuery(filesQuery)
  const send = useMutation({
    mutationFn: uploadFile,
    onMutate: () => setSentShare(0),
    onSuccess: (choice) => {
      void queryClient.invalidateQueries({ queryKey: filesQuery.queryKey })
      if (choice.problem === null && (!choice.tabs || choice.tabs.length < 2))
        onChosen({ provider: 'file', path: choice.path, tab: choice.tabs?.[0] ?? null })
    },
  })
  return (
    <div className="max-w-2xl space-y-6">
      <Card title="Upload a file">
        <p className="mb-4 text-sm text-soft">
          A CSV file or a workbook (.csv, .tsv, .xlsx, .ods), up to 50 MB. Rowport stores a copy. Changes to
          your original aren’t synced; replace the copy under{' '}
          <Link to="/files" className="text-accent underline underline-offset-2">
            Files
          </Link>{' '}
          when it has changed.
        </p>
        <label htmlFor={inputId} className="sr-only">
          File
        </label>
        <input
          ref={input}
          id={inputId}
          type="file"
          accept=".csv,.tsv,.txt,.xlsx,.ods"
          className="sr-only"
          tabIndex={-1}
          onChange={({ target }) => {
            if (target.files?.[0]) send.mutate({ file: target.files[0], onSent: setSentShare })
            // So that the same file can be chosen again after it was mended.
            target.value = ''
          }}
        />
        <Button look="primary" isBusy={send.isPending} onClick={() => input.current?.click()}>
          Choose a file
        </Button>
        {send.isPending && <Sending name={send.variables.file.name} share={sentShare} />}
        <FormError>{send.error?.message}</FormError>
      </Card>
      {files.isPending && <Skeleton lines={3} />}
      {files.error && <ErrorState error={files.error} onRetry={() => files.refetch()} />}
      {files.data && files.data.length > 0 && (
        <section>
          <h2 className="mb-2 font-semibold">Files on this server</h2>
          <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-raised">
            {files.data.flatMap(({ path, name, tabs, problem }) =>
              (tabs ?? [null]).map((tab) => (
                <li key={`${path} ${tab}`}>
                  <button
                    type="button"
                    disabled={problem !== null}
                    onClick={() => onChosen({ provider: 'file', path, tab })}
                    className="flex w-full justify-between gap-4 px-4 py-3 text-left text-sm hover:bg-sunken"
                  >
                    <span className="truncate font-medium">{name}</span>
                    {problem && <span className="text-caption text-bad">{problem}</span>}
                    {tab !== null && <span className="shrink-0 text-caption text-soft">Tab: {tab}</span>}
                  </button>
                </li>
              )),
            )}
          </ul>
        </section>
      )}
    </div>
  )
}
