import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FileChoice } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { filesQuery, sheetsQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { useToast } from '../../ui/toast.tsx'

const renameFile = ({ name, to }: { name: string; to: string }) =>
  send('POST /files/{name}/rename', { names: { name }, input: { to } })

export function RenameFile({ file, onClose }: { file: FileChoice | null; onClose(): void }) {
  const queryClient = useQueryClient()
  const toast = useToast()
  const rename = useMutation({
    mutationFn: renameFile,
    onSuccess: ({ name: renamed }, { name }) => {
      void queryClient.invalidateQueries({ queryKey: filesQuery.queryKey })
      void queryClient.invalidateQueries({ queryKey: sheetsQuery.queryKey })
      toast(`${name} renamed to ${renamed}.`)
      close()
    },
  })
  function close(): void {
    rename.reset()
    onClose()
  }
  return (
    <Dialog title={`Rename ${file?.name}`} isOpen={file !== null} isLocked={rename.isPending} onClose={close}>
      {file && (
        <NewName
          file={file}
          isBusy={rename.isPending}
          error={rename.error?.message ?? null}
          onEdit={rename.reset}
          onSubmit={(to) => rename.mutate({ name: file.name, to })}
          onCancel={close}
        />
      )}
    </Dialog>
  )
}

function NewName({
  file: { name, sheets },
  isBusy,
  error,
  onEdit,
  onSubmit,
  onCancel,
}: {
  file: FileChoice
  isBusy: boolean
  error: string | null
  onEdit(): void
  onSubmit(name: string): void
  onCancel(): void
}) {
  const [typed, setTyped] = useState(name)
  const ending = endingOf(name)
  const wanted = typed.trim().toLowerCase().endsWith(ending.toLowerCase())
    ? typed.trim()
    : typed.trim() + ending
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (wanted !== ending && wanted !== name) onSubmit(wanted)
      }}
    >
      <p className="mb-4 text-sm text-soft">
        {sheets.length > 0
          ? 'Its sheets stay connected: their URLs, rows, history, and keys don’t change.'
          : 'No sheet uses this file.'}
      </p>
      <TextField
        label="New name"
        autoFocus
        value={typed}
        disabled={isBusy}
        maxLength={200}
        hint={`It keeps the ending ${ending}.`}
        error={error}
        onFocus={({ target }) => target.setSelectionRange(0, name.length - ending.length)}
        onChange={({ target }) => {
          onEdit()
          setTyped(target.value)
        }}
      />
      <div className="mt-5 flex justify-end gap-2">
        <Button disabled={isBusy} onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" look="primary" isBusy={isBusy} disabled={wanted === ending || wanted === name}>
          Rename file
        </Button>
      </div>
    </form>
  )
}

function endingOf(name: string): string {
  return name.slice(name.lastIndexOf('.'))
}
