import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { KeyView, NewKeyView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { keysQuery } from '../../queries.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'

export interface KeyEnding {
  key: KeyView
  how: 'revoke' | 'regenerate'
}

const endKey = ({ key, how }: KeyEnding) => send(`POST /keys/{id}/${how}`, { names: { id: key.id } })

/** Revoking and regenerating both end a key at once; the question says what stops working. */
export function EndKey({
  ending,
  onClose,
  onMade,
}: {
  ending: KeyEnding | null
  onClose(): void
  onMade(made: NewKeyView): void
}) {
  const queryClient = useQueryClient()
  const toast = useToast()
  const end = useMutation({
    mutationFn: endKey,
    onSuccess: (made) => {
      void queryClient.invalidateQueries({ queryKey: keysQuery.queryKey })
      if (made && 'value' in made) return onMade(made)
      toast('Key revoked. It is refused from now on.')
      onClose()
    },
  })
  const key = ending?.key
  const isRevoke = ending?.how === 'revoke'
  return (
    <ConfirmDialog
      title={isRevoke ? `Revoke “${key?.name}”?` : `Regenerate “${key?.name}”?`}
      confirm={isRevoke ? 'Revoke key' : 'Regenerate key'}
      isOpen={ending !== null}
      isBusy={end.isPending}
      error={end.error?.message}
      onConfirm={() => ending && end.mutate(ending)}
      onClose={() => {
        end.reset()
        onClose()
      }}
    >
      <p>
        Every program that uses{' '}
        <strong className="font-mono">
          {key?.shownStart}…{key?.shownEnd}
        </strong>{' '}
        is refused at once, everywhere.{' '}
        {isRevoke ? 'A revoked key cannot be restored.' : 'You get a new key with the same rights.'}
      </p>
      <p className="mt-2">
        Last used: <Ago atMs={key?.lastUsedAtMs ?? null} />. All requests this month, errors too:{' '}
        {key?.requestsThisMonth ?? 0}.
      </p>
    </ConfirmDialog>
  )
}
