import type { ReactNode } from 'react'
import { Button } from '../../../ui/button.tsx'
import { FormError } from '../../../ui/field.tsx'
import type { useSheetChange } from '../sheet-change.ts'

/** Fields that are saved together, by a button, which tells what became of it. */
export function SavedForm({
  change,
  onSave,
  children,
}: {
  change: Pick<ReturnType<typeof useSheetChange>, 'isPending' | 'error'>
  onSave(): void
  children: ReactNode
}) {
  return (
    <form
      className="grid grid-cols-1 gap-x-4 sm:grid-cols-2"
      onSubmit={(event) => {
        event.preventDefault()
        onSave()
      }}
    >
      {children}
      <div className="col-span-full">
        <Button type="submit" isBusy={change.isPending}>
          Save
        </Button>
        <FormError>{change.error?.message}</FormError>
      </div>
    </form>
  )
}
