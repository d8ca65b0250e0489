import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { NewWebhookView, WebhookInput } from '../../../../src/dashboard/contract.ts'
import { Refused, send } from '../../api.ts'
import { sheetsQuery, webhooksQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FormError, SelectField, TextField } from '../../ui/field.tsx'

const kinds = [
  { kind: 'added', label: 'Rows added' },
  { kind: 'updated', label: 'Rows updated' },
  { kind: 'deleted', label: 'Rows deleted' },
] as const
type Kind = (typeof kinds)[number]['kind']

const addWebhook = (input: WebhookInput) => send('POST /webhooks', { input })

export function AddWebhook({
  isOpen,
  onClose,
  onMade,
}: {
  isOpen: boolean
  onClose(): void
  onMade(made: NewWebhookView): void
}) {
  const queryClient = useQueryClient()
  const sheets = useQuery({ ...sheetsQuery, enabled: isOpen })
  const [url, setUrl] = useState('')
  const [sheetSlug, setSheetSlug] = useState('')
  const [left, setLeft] = useState<readonly Kind[]>([])
  const [columns, setColumns] = useState('')
  const add = useMutation({
    mutationFn: addWebhook,
    onSuccess: (made) => {
      void queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey })
      onMade(made)
    },
  })
  const { reset } = add
  useEffect(() => {
    if (!isOpen) return
    setUrl('')
    setSheetSlug('')
    setLeft([])
    setColumns('')
    reset()
  }, [isOpen, reset])
  const refusal = add.error instanceof Refused ? add.error : null
  const isOfSheet = sheetSlug !== ''
  const wanted = kinds.map(({ kind }) => kind).filter((kind) => !left.includes(kind))
  const names = columns
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return (
    <Dialog title="Add a webhook" isOpen={isOpen} isLocked={add.isPending} onClose={onClose}>
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault()
          add.mutate({
            url,
            sheetSlug: isOfSheet ? sheetSlug : null,
            kinds: isOfSheet && left.length > 0 ? wanted : null,
            columns: isOfSheet && names.length > 0 ? names : null,
          })
        }}
      >
        <TextField
          label="URL"
          type="url"
          required
          maxLength={2_000}
          placeholder="https://example.com/hook"
          hint="Gets a POST with JSON. Must be https on the public internet."
          value={url}
          error={refusal?.field === 'url' ? refusal.message : null}
          onChange={({ target }) => setUrl(target.value)}
        />
        <SelectField label="Send" value={sheetSlug} onChange={({ target }) => setSheetSlug(target.value)}>
          <option value="">Account events: broken sheets, ended connections, held form entries, quota</option>
          {sheets.data?.map(({ slug }) => (
            <option key={slug} value={slug}>
              Changes of {slug}
            </option>
          ))}
        </SelectField>
        {isOfSheet && (
          <>
            <fieldset>
              <legend className="mb-1.5 text-sm font-medium">When</legend>
              <div className="flex flex-wrap gap-x-5 gap-y-2">
                {kinds.map(({ kind, label }) => (
                  <label key={kind} className="flex items-center gap-2 text-sm">
                    <input
                      type="checkbox"
                      className="accent-accent"
                      checked={!left.includes(kind)}
                      onChange={({ target }) =>
                        setLeft(target.checked ? left.filter((other) => other !== kind) : [...left, kind])
                      }
                    />
                    {label}
                  </label>
                ))}
              </div>
              {wanted.length === 0 && (
                <p role="alert" className="mt-1 text-caption text-bad">
                  Choose at least one.
                </p>
              )}
            </fieldset>
            <TextField
              label="Only updates of these columns"
              placeholder="price, stock"
              hint="Separated by commas. Leave empty for all."
              value={columns}
              error={refusal?.field === 'columns' ? refusal.message : null}
              onChange={({ target }) => setColumns(target.value)}
            />
          </>
        )}
        <FormError>{refusal?.field ? null : add.error?.message}</FormError>
        <div className="flex justify-end gap-2">
          <Button disabled={add.isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            look="primary"
            isBusy={add.isPending}
            disabled={isOfSheet && wanted.length === 0}
          >
            Add webhook
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
