import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { SheetChange, SheetView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Choices, FormError, Switch, TextField } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { useToast } from '../../ui/toast.tsx'
import { useSheet } from './sheet-query.ts'

export function SheetSettings() {
  const sheet = useSheet()
  const queryClient = useQueryClient()
  const toast = useToast()
  const change = useMutation({
    mutationFn: (settings: SheetChange) => send<SheetView>('PATCH', `/sheets/${sheet.slug}`, settings),
    onSuccess: (view) => {
      queryClient.setQueryData(['sheets', sheet.slug], view)
      void queryClient.invalidateQueries({ queryKey: ['sheets'], exact: true })
      toast('Saved. It holds from the next request on.')
    },
  })
  const { settings } = sheet
  return (
    <div>
      <Section title="Serving" about="A paused sheet keeps its address, its keys and its settings.">
        <Switch
          label={settings.paused ? 'Paused' : 'Serving requests'}
          description="Paused, every request is answered with 503 sheet_paused, at once and everywhere."
          checked={!settings.paused}
          disabled={change.isPending}
          onChange={(isServing) => change.mutate({ paused: !isServing })}
        />
        <FormError>{change.error?.message}</FormError>
      </Section>
      <Section title="Access" about="A change holds from the next request on.">
        <div className="space-y-5">
          <Choices
            legend="Who may read"
            name="access"
            value={settings.access}
            onChange={(access) => change.mutate({ access })}
            choices={[
              { value: 'private', title: 'With a key', description: 'Every request needs one.' },
              {
                value: 'public-read',
                title: 'Everybody',
                description: 'Reading needs no key; writing does.',
              },
            ]}
          />
          <Choices
            legend="Test keys"
            name="accepts"
            value={settings.accepts}
            onChange={(accepts) => change.mutate({ accepts })}
            choices={[
              { value: 'both', title: 'Accepted', description: 'They work on the same rows.' },
              { value: 'live', title: 'Refused', description: 'Only live keys open this sheet.' },
            ]}
          />
          <Choices
            legend="Fields that no column has, when writing"
            name="unknown-fields"
            value={settings.unknownFields}
            onChange={(unknownFields) => change.mutate({ unknownFields })}
            choices={[
              {
                value: 'reject',
                title: 'Refused',
                description: 'The answer names the field; nothing is written.',
              },
              { value: 'ignore', title: 'Left out', description: 'The rest of the row is written.' },
            ]}
          />
        </div>
      </Section>
      <Freshness
        key={`${settings.cacheSeconds} ${settings.staleIfErrorSeconds}`}
        sheet={sheet}
        isBusy={change.isPending}
        onSave={change.mutate}
      />
      <Danger sheet={sheet} />
    </div>
  )
}

function Freshness({
  sheet,
  isBusy,
  onSave,
}: {
  sheet: SheetView
  isBusy: boolean
  onSave(settings: SheetChange): void
}) {
  const [cacheSeconds, setCacheSeconds] = useState(String(sheet.settings.cacheSeconds))
  const [staleSeconds, setStaleSeconds] = useState(String(sheet.settings.staleIfErrorSeconds))
  return (
    <Section
      title="Freshness"
      about="How long rows are served from memory before the spreadsheet is asked again."
    >
      <form
        className="grid grid-cols-1 gap-x-4 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault()
          onSave({ cacheSeconds: Number(cacheSeconds), staleIfErrorSeconds: Number(staleSeconds) })
        }}
      >
        <TextField
          label="Keep rows for, seconds"
          type="number"
          min={0}
          max={3600}
          required
          hint="An edit in the spreadsheet shows after at most this long. 0 to 3600."
          value={cacheSeconds}
          onChange={({ target }) => setCacheSeconds(target.value)}
        />
        <TextField
          label="Serve old rows in an outage, seconds"
          type="number"
          min={0}
          max={86400}
          required
          hint="0 = tell clients at once. Up to 86400."
          value={staleSeconds}
          onChange={({ target }) => setStaleSeconds(target.value)}
        />
        <div>
          <Button type="submit" isBusy={isBusy}>
            Save
          </Button>
        </div>
      </form>
    </Section>
  )
}

function Danger({ sheet }: { sheet: SheetView }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  const [isAsking, setIsAsking] = useState(false)
  const remove = useMutation({
    mutationFn: () => send('DELETE', `/sheets/${sheet.slug}`),
    onSuccess: async () => {
      await navigate({ to: '/sheets' })
      queryClient.removeQueries({ queryKey: ['sheets', sheet.slug] })
      await queryClient.invalidateQueries({ queryKey: ['sheets'] })
      toast(`${sheet.slug} is disconnected.`)
    },
  })
  return (
    <Section title="Danger zone" about="There is no way back from here." isDangerous>
      <p className="mb-4 text-sm text-soft">The spreadsheet itself is not touched; only its API ends.</p>
      <Button look="danger" onClick={() => setIsAsking(true)}>
        Disconnect this sheet
      </Button>
      <ConfirmDialog
        title={`Disconnect ${sheet.slug}?`}
        confirm="Disconnect"
        isOpen={isAsking}
        isBusy={remove.isPending}
        error={remove.error?.message}
        onConfirm={() => remove.mutate()}
        onClose={() => setIsAsking(false)}
      >
        <p>
          Every request to <strong className="font-mono">{sheet.paths.formA}</strong> is answered with 404
          from now on. Connecting it again gives it a new id. Keys made for this sheet alone are revoked.
        </p>
      </ConfirmDialog>
    </Section>
  )
}
