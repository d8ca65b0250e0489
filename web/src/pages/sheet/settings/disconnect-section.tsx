import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { send } from '../../../api.ts'
import { sheetQuery, sheetsQuery } from '../../../queries.ts'
import { Button } from '../../../ui/button.tsx'
import { ConfirmDialog } from '../../../ui/dialog.tsx'
import { Section } from '../../../ui/section.tsx'
import { useToast } from '../../../ui/toast.tsx'

const disconnectSheet = ({ slug }: { slug: string }) => send('DELETE /sheets/{slug}', { names: { slug } })

export function DisconnectSection({ sheet }: { sheet: SheetView }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  const [isAsking, setIsAsking] = useState(false)
  const disconnect = useMutation({
    mutationFn: disconnectSheet,
    onSuccess: async (_nothing, { slug }) => {
      await navigate({ to: '/sheets' })
      queryClient.removeQueries({ queryKey: sheetQuery(slug).queryKey })
      await queryClient.invalidateQueries({ queryKey: sheetsQuery.queryKey })
      toast(`${slug} disconnected.`)
    },
  })
  return (
    <Section id="disconnect" title="Danger zone" about="This can’t be undone." isDangerous>
      <p className="mb-4 text-sm text-soft">Only the API is removed. Your spreadsheet isn’t changed.</p>
      <Button look="danger" onClick={() => setIsAsking(true)}>
        Disconnect this sheet
      </Button>
      <ConfirmDialog
        title={`Disconnect ${sheet.slug}?`}
        confirm="Disconnect"
        isOpen={isAsking}
        isBusy={disconnect.isPending}
        error={disconnect.error?.message}
        onConfirm={() => disconnect.mutate({ slug: sheet.slug })}
        onClose={() => {
          setIsAsking(false)
          disconnect.reset()
        }}
      >
        <p>
          Requests to <strong className="font-mono">{sheet.paths.formA}</strong> will return 404. If you
          reconnect the sheet, it gets a new ID. Keys limited to this sheet will be revoked.
        </p>
      </ConfirmDialog>
    </Section>
  )
}
