import { useState } from 'react'
import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { ConfirmDialog } from '../../../ui/dialog.tsx'
import { Choices, FormError } from '../../../ui/field.tsx'
import { Section } from '../../../ui/section.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { AccessChoices, whatBecomesPublic } from '../../sheets/sheet-access.tsx'
import { useSheetChange } from '../sheet-change.ts'

export function AccessSection({ sheet }: { sheet: SheetView }) {
  const { slug, settings } = sheet
  const [isAsking, setIsAsking] = useState(false)
  const toast = useToast()
  // It is offered on whatever page is open by then, so its outcome is told there.
  const makePrivate = useSheetChange({
    said: 'Private again. Reading needs a key.',
    onFailed: ({ message }) => toast(message),
  })
  const makePublic = useSheetChange({
    said: `${slug} is now public.`,
    undo: { label: 'Undo', act: () => makePrivate.mutate({ slug, settings: { access: 'private' } }) },
    onSaved: () => setIsAsking(false),
  })
  const change = useSheetChange()
  return (
    <Section title="Access" about="Changes take effect immediately.">
      <div className="space-y-5">
        <AccessChoices
          value={settings.access}
          onChange={(access) =>
            access === 'public-read' ? setIsAsking(true) : makePrivate.mutate({ slug, settings: { access } })
          }
        />
        <Choices
          legend="Test keys"
          name="accepts"
          value={settings.accepts}
          onChange={(accepts) => change.mutate({ slug, settings: { accepts } })}
          choices={[
            { value: 'both', title: 'Accepted', description: 'Test keys use the same data.' },
            { value: 'live', title: 'Refused', description: 'Only live keys work with this sheet.' },
          ]}
        />
        <Choices
          legend="Unknown fields in write requests"
          name="unknown-fields"
          value={settings.unknownFields}
          onChange={(unknownFields) => change.mutate({ slug, settings: { unknownFields } })}
          choices={[
            {
              value: 'reject',
              title: 'Reject',
              description: 'The request fails and the error names the field.',
            },
            { value: 'ignore', title: 'Ignore', description: 'The other fields are saved.' },
          ]}
        />
      </div>
      <FormError>{(makePrivate.error ?? change.error)?.message}</FormError>
      <ConfirmDialog
        title={`Make “${slug}” public?`}
        confirm="Make public"
        isOpen={isAsking}
        isBusy={makePublic.isPending}
        error={makePublic.error?.message}
        onConfirm={() => makePublic.mutate({ slug, settings: { access: 'public-read' } })}
        onClose={() => {
          setIsAsking(false)
          makePublic.reset()
        }}
      >
        <p>
          <strong>{whatBecomesPublic(sheet.rowCount)}</strong>
        </p>
        <p className="mt-2 font-mono text-caption break-all">{sheet.paths.formA}</p>
        <p className="mt-2">Writing still needs a key. You can make it private again at any time.</p>
      </ConfirmDialog>
    </Section>
  )
}
