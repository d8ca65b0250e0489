import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { KeyView, NewKeyView, OverlapSeconds } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { keysQuery } from '../../queries.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'

export interface KeyEnding {
  key: KeyView
  how: 'revoke' | 'regenerate'
}

const overlaps: readonly { seconds: OverlapSeconds | 0; title: string }[] = [
  { seconds: 0, title: 'Immediately' },
  { seconds: 3_600, title: 'In an hour' },
  { seconds: 86_400, title: 'In a day' },
  { seconds: 604_800, title: 'In a week' },
]

const endKey = ({
  key: { id },
  how,
  overlapSeconds,
}: KeyEnding & { overlapSeconds: OverlapSeconds | 0 }): Promise<NewKeyView | null> => {
  if (how === 'regenerate' && overlapSeconds !== 0)
    return send('POST /keys/{id}/rotate', { names: { id }, input: { overlapSeconds } })
  return send(`POST /keys/{id}/${how}`, { names: { id } })
}

/** Revoking ends a key at once, regenerating when its owner says; the question says what stops working. */
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
  const [overlapSeconds, setOverlapSeconds] = useState<OverlapSeconds | 0>(0)
  const end = useMutation({
    mutationFn: endKey,
    onSuccess: (made) => {
      void queryClient.invalidateQueries({ queryKey: keysQuery.queryKey })
      setOverlapSeconds(0)
      if (made) return onMade(made)
      toast('Key revoked.')
      onClose()
    },
  })
  const key = ending?.key
  const isRevoke = ending?.how === 'revoke'
  const isAtOnce = isRevoke || overlapSeconds === 0
  return (
    <ConfirmDialog
      title={isRevoke ? `Revoke “${key?.name}”?` : `Regenerate “${key?.name}”?`}
      confirm={isRevoke ? 'Revoke key' : 'Regenerate key'}
      isOpen={ending !== null}
      isBusy={end.isPending}
      error={end.error?.message}
      onConfirm={() => ending && end.mutate({ ...ending, overlapSeconds })}
      onClose={() => {
        end.reset()
        setOverlapSeconds(0)
        onClose()
      }}
    >
      {!isRevoke && (
        <div className="mb-2 text-ink">
          <SelectField
            label="The old key stops working"
            value={overlapSeconds}
            onChange={({ target }) => setOverlapSeconds(Number(target.value) as OverlapSeconds | 0)}
          >
            {overlaps.map(({ seconds, title }) => (
              <option key={seconds} value={seconds}>
                {title}
              </option>
            ))}
          </SelectField>
        </div>
      )}
      <p>
        Any app using{' '}
        <strong className="font-mono">
          {key?.shownStart}…{key?.shownEnd}
        </strong>{' '}
        {isAtOnce ? 'will stop working immediately.' : 'keeps working until then.'}{' '}
        {isRevoke ? 'This can’t be undone.' : 'You’ll get a new key with the same permissions.'}
      </p>
      <p className="mt-2">
        Last used: <Ago atMs={key?.lastUsedAtMs ?? null} />. Requests this month:{' '}
        {key?.requestsThisMonth ?? 0}.
      </p>
    </ConfirmDialog>
  )
}
