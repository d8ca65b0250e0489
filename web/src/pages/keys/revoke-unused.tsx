import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { KeyView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { keysQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { useToast } from '../../ui/toast.tsx'
import { unusedDays } from './key-state.tsx'

/** One after the other: if one fails, those before it are revoked, and the list shows which are left. */
const revokeAll = async (keys: readonly KeyView[]) => {
  for (const { id } of keys) await send('POST /keys/{id}/revoke', { names: { id } })
}

export function RevokeUnused({ keys }: { keys: readonly KeyView[] }) {
  const queryClient = useQueryClient()
  const toast = useToast()
  const [isAsking, setIsAsking] = useState(false)
  const revoke = useMutation({
    mutationFn: revokeAll,
    onSuccess: (_nothing, revoked) => {
      setIsAsking(false)
      toast(`${revoked.length} ${revoked.length === 1 ? 'key' : 'keys'} revoked.`)
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey }),
  })
  return (
    <>
      <Button className="text-bad!" onClick={() => setIsAsking(true)}>
        Revoke these {keys.length}
      </Button>
      <ConfirmDialog
        title={`Revoke ${keys.length} unused ${keys.length === 1 ? 'key' : 'keys'}?`}
        confirm={`Revoke ${keys.length}`}
        isOpen={isAsking}
        isBusy={revoke.isPending}
        error={revoke.error?.message}
        onConfirm={() => revoke.mutate(keys)}
        onClose={() => {
          setIsAsking(false)
          revoke.reset()
        }}
      >
        <p>
          None of them was used in the last {unusedDays} days. Any app still using one will stop working
          immediately. This can’t be undone.
        </p>
      </ConfirmDialog>
    </>
  )
}
