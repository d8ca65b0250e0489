import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { FileChoice } from '../../../../src/dashboard/contract.ts'
import { upload } from '../../api.ts'
import { filesQuery, sheetsQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FormError } from '../../ui/field.tsx'
import { useToast } from '../../ui/toast.tsx'
import { Sending } from './sending.tsx'
import { sizeInWords } from './size-in-words.ts'

interface Replacement {
  name: string
  file: File
  onSent(share: number): void
}

const replaceFile = ({ name, file, onSent }: Replacement) =>
  upload('POST /files/{name}/replace', { names: { name }, query: { name: file.name } }, file, onSent)

/** Chosen first, sent when it is asked for: what was in the file before is gone afterwards. */
export function ReplaceFile({ file: former, onClose }: { file: FileChoice | null; onClose(): void }) {
  const queryClient = useQueryClient()
  const toast = useToast()
  const inputId = useId()
  const [chosen, setChosen] = useState<File | null>(null)
  const [sentShare, setSentShare] = useState(0)
  const replace = useMutation({
    mutationFn: replaceFile,
    onMutate: () => setSentShare(0),
    onSuccess: ({ name }) => {
      void queryClient.invalidateQueries({ queryKey: filesQuery.queryKey })
      void queryClient.invalidateQueries({ queryKey: sheetsQuery.queryKey })
      toast(`${name} replaced. The new rows are live.`)
      close()
    },
  })
  function close(): void {
    setChosen(null)
    replace.reset()
    onClose()
  }
  return (
    <Dialog
      title={`Replace ${former?.name}`}
      isOpen={former !== null}
      isLocked={replace.isPending}
      onClose={close}
    >
      <p className="mb-4 text-sm text-soft">
        {former && former.sheets.length > 0
          ? `Rowport checks the new file as ${inWords(former.sheets)} will read it. If it’s fine, it replaces the old one immediately. If not, nothing changes.`
          : 'Rowport checks the new file first. If it’s fine, it replaces the old one. If not, nothing changes.'}{' '}
        Everything in the old file is lost, including rows written through the API.
      </p>
      <label htmlFor={inputId} className="mb-1 block text-sm font-medium">
        New file
      </label>
      <input
        id={inputId}
        type="file"
        accept=".csv,.tsv,.txt,.xlsx,.xlsm,.ods"
        disabled={replace.isPending}
        onChange={({ target }) => {
          replace.reset()
          setChosen(target.files?.[0] ?? null)
        }}
        className="block w-full rounded-md border border-line-strong bg-raised text-sm file:mr-3 file:h-9 file:border-0 file:bg-sunken file:px-3.5 file:text-sm file:font-medium file:text-ink"
      />
      {chosen && !replace.isPending && (
        <p className="mt-1 text-caption text-soft">{sizeInWords(chosen.size)}</p>
      )}
      {replace.isPending && <Sending name={replace.variables.file.name} share={sentShare} />}
      <FormError>{replace.error?.message}</FormError>
      <div className="mt-5 flex justify-end gap-2">
        <Button disabled={replace.isPending} onClick={close}>
          Cancel
        </Button>
        <Button
          look="danger"
          disabled={chosen === null}
          isBusy={replace.isPending}
          onClick={() =>
            former && chosen && replace.mutate({ name: former.name, file: chosen, onSent: setSentShare })
          }
        >
          Replace file
        </Button>
      </div>
    </Dialog>
  )
}

function inWords(slugs: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(slugs)
}
