import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { FormView } from '../../../../src/dashboard/contract.ts'
import { frameHtml, pastedHtml } from '../../../../src/http/form-markup.ts'
import { send } from '../../api.ts'
import { formsQuery } from '../../queries.ts'
import { Button, ButtonAnchor } from '../../ui/button.tsx'
import { CodeBlock, CopyLine } from '../../ui/copy.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { FormError, Switch } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { useToast } from '../../ui/toast.tsx'

const openForm = ({ id, isOpen }: { id: string; isOpen: boolean }) =>
  send('PATCH /forms/{id}', { names: { id }, input: { isOpen } })
const removeForm = (id: string) => send('POST /forms/{id}/remove', { names: { id } })

/** How visitors come to the form, whether they may, and its end. */
export function FormSharing({ form }: { form: FormView }) {
  const { id, name, isOpen, url, held, settings } = form
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  const [isAsking, setIsAsking] = useState(false)
  const onSuccess = () => void queryClient.invalidateQueries({ queryKey: formsQuery.queryKey })
  const opening = useMutation({ mutationFn: openForm, onSuccess })
  const removing = useMutation({
    mutationFn: removeForm,
    onSuccess: async () => {
      await navigate({ to: '/forms' })
      toast(`${name} deleted.`)
      void queryClient.invalidateQueries({ queryKey: formsQuery.queryKey, exact: true })
    },
  })
  const shown = { title: name, ...settings }
  return (
    <div>
      <Section title="Link" about="A page of its own. It works without JavaScript.">
        <div className="space-y-4">
          <CopyLine text={url} label="the link" />
          <ButtonAnchor href={url}>Open the form</ButtonAnchor>
        </div>
      </Section>
      <Section
        title="HTML"
        about="For a page of yours, in its own style. Thanks and mistakes are shown on Rowport’s page."
      >
        <CodeBlock code={pastedHtml(shown, url)} label="HTML of the form" />
        {settings.minSeconds > 0 && (
          <p className="mt-3 text-caption text-soft">
            Pasted HTML can’t tell when it was shown, so with “Minimum seconds” above 0 its entries are held.
          </p>
        )}
      </Section>
      <Section title="Frame" about="The whole page within yours. Name your page under “Other pages” first.">
        {settings.framedBy.length > 0 ? (
          <CodeBlock code={frameHtml(shown, url)} label="HTML of the frame" />
        ) : (
          <p className="text-sm text-soft">No page may show this form in a frame yet.</p>
        )}
      </Section>
      <Section title="Open" about="A closed form says so, and takes nothing.">
        <Switch
          label="Takes entries"
          checked={isOpen}
          disabled={opening.isPending}
          onChange={(next) => opening.mutate({ id, isOpen: next })}
        />
        <FormError>{opening.error?.message}</FormError>
      </Section>
      <Section title="Delete" about="The rows that came by it stay." isDangerous>
        <Button className="text-bad!" onClick={() => setIsAsking(true)}>
          Delete this form
        </Button>
      </Section>
      <ConfirmDialog
        title={`Delete “${name}”?`}
        confirm="Delete form"
        isOpen={isAsking}
        isBusy={removing.isPending}
        error={removing.error?.message}
        onConfirm={() => removing.mutate(id)}
        onClose={() => {
          setIsAsking(false)
          removing.reset()
        }}
      >
        <p>
          Its link stops working at once
          {held > 0 && (
            <>
              , and <strong>{held === 1 ? 'one held entry is' : `${held} held entries are`} lost</strong>
            </>
          )}
          . This can’t be undone.
        </p>
      </ConfirmDialog>
    </div>
  )
}
