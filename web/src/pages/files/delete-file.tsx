import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { FileChoice } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { filesQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { useToast } from '../../ui/toast.tsx'

const deleteFile = ({ name }: { name: string }) => send('DELETE /files/{name}', { names: { name } })

export function DeleteFile({ file, onClose }: { file: FileChoice | null; onClose(): void }) {
  const queryClient = useQueryClient()
  const toast = useToast()
  const remove = useMutation({
    mutationFn: deleteFile,
    onSuccess: (_nothing, { name }) => {
      void queryClient.invalidateQueries({ queryKey: filesQuery.queryKey })
      toast(`${name} deleted.`)
      onClose()
    },
  })
  if (file && file.sheets.length > 0) return <StillConnected file={file} onClose={onClose} />
  return (
    <ConfirmDialog
      title={`Delete ${file?.name}?`}
      confirm="Delete file"
      isOpen={file !== null}
      isBusy={remove.isPending}
      error={remove.error?.message}
      onConfirm={() => file && remove.mutate({ name: file.name })}
      onClose={() => {
        remove.reset()
        onClose()
      }}
    >
      <p>Rowport’s copy is deleted permanently. No sheet uses it, and your original file isn’t changed.</p>
    </ConfirmDialog>
  )
}

function StillConnected({ file: { name, sheets }, onClose }: { file: FileChoice; onClose(): void }) {
  return (
    <Dialog title={`${name} is in use`} isOpen onClose={onClose}>
      <div className="text-sm text-soft">
        <p>You can’t delete a file while sheets use it. Disconnect these first:</p>
        <ul className="mt-2 list-disc pl-5">
          {sheets.map((slug) => (
            <li key={slug}>
              <Link
                to="/sheets/$slug/settings"
                params={{ slug }}
                className="text-accent underline underline-offset-2"
              >
                {slug}
              </Link>
            </li>
          ))}
        </ul>
      </div>
      <div className="mt-5 flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}
