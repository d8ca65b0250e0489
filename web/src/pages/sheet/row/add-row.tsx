import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { sheetQuery } from '../../../queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { FormError } from '../../../ui/field.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { RowFields } from './row-fields.tsx'
import { addRow } from './row-requests.ts'
import { asCell, type Row } from './row-values.ts'

const sendRow = (asked: { sheet: SheetView; row: Row }) => addRow(asked)

export function AddRow({ sheet, isOpen, onClose }: { sheet: SheetView; isOpen: boolean; onClose(): void }) {
  const queryClient = useQueryClient()
  const toast = useToast()
  const [typed, setTyped] = useState<Record<string, string>>({})
  const add = useMutation({
    mutationFn: sendRow,
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: sheetQuery(sheet.slug).queryKey })
      toast('Row added at the end of the sheet.')
      close()
    },
  })
  function close(): void {
    setTyped({})
    add.reset()
    onClose()
  }
  const filled = sheet.columns.filter(({ name }) => typed[name])
  return (
    <Dialog title="Add a row" isOpen={isOpen} isSide isLocked={add.isPending} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const row = Object.fromEntries(
            filled.map(({ name, type }) => [name, asCell(typed[name] ?? '', type)]),
          )
          add.mutate({ sheet, row })
        }}
      >
        <RowFields
          columns={sheet.columns}
          values={typed}
          onChange={(name, value) => setTyped({ ...typed, [name]: value })}
        />
        <FormError>{add.error?.message}</FormError>
        <div className="flex justify-end gap-2">
          <Button disabled={add.isPending} onClick={close}>
            Cancel
          </Button>
          <Button type="submit" look="primary" isBusy={add.isPending} disabled={filled.length === 0}>
            Add row to spreadsheet
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
