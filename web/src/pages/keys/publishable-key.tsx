import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { KeyView, PolicyView, PublishableKeyInput } from '../../../../src/dashboard/contract.ts'
import { Refused, send } from '../../api.ts'
import { keysQuery, sheetsQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choices, FormError, SelectField, Switch, TextField } from '../../ui/field.tsx'
import { useToast } from '../../ui/toast.tsx'

const createKey = (input: PublishableKeyInput) => send('POST /keys/publishable', { input })
const changePolicy = ({ id, input }: { id: string; input: PolicyView }) =>
  send('PATCH /keys/{id}/policy', { names: { id }, input })

type May = 'read' | 'add' | 'read,add'

/** What is typed: lists as text, until they are sent. */
interface Draft {
  name: string
  sheetSlug: string
  mode: 'live' | 'test'
  may: May
  isAnyOrigin: boolean
  origins: string
  readColumns: string
  writeColumns: string
  where: string
  set: string
  maxRows: string
  requestsPerMinute: string
}

const blank: Draft = {
  name: '',
  sheetSlug: '',
  mode: 'live',
  may: 'read',
  isAnyOrigin: false,
  origins: '',
  readColumns: '',
  writeColumns: '',
  where: '',
  set: '',
  maxRows: '100',
  requestsPerMinute: '60',
}

/** Makes a key for pages, or changes the policy of one. */
export function PublishableKey({
  isOpen,
  of: key,
  onClose,
}: {
  isOpen: boolean
  /** null for a new one. */
  of: KeyView | null
  onClose(): void
}) {
  const queryClient = useQueryClient()
  const toast = useToast()
  const sheets = useQuery({ ...sheetsQuery, enabled: isOpen })
  const [draft, setDraft] = useState(blank)
  const saved = ({ name }: { name: string }) => {
    void queryClient.invalidateQueries({ queryKey: keysQuery.queryKey })
    toast(`${name} saved.`)
    onClose()
  }
  const create = useMutation({ mutationFn: createKey, onSuccess: (made) => saved(made.key) })
  const change = useMutation({ mutationFn: changePolicy, onSuccess: saved })
  const [resetCreate, resetChange] = [create.reset, change.reset]
  const id = key?.id
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed stays while the list is asked for again
  useEffect(() => {
    if (!isOpen) return
    setDraft(key?.policy ? draftOf(key, key.policy) : blank)
    resetCreate()
    resetChange()
  }, [isOpen, id, resetCreate, resetChange])
  const { error, isPending } = key ? change : create
  const refusal = error instanceof Refused ? error : null
  const about = (field: string) => {
    const name = field as keyof Draft
    return {
      value: String(draft[name]),
      error: refusal?.field === field ? refusal.message : undefined,
      onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
    }
  }
  const canAdd = draft.may !== 'read'
  const canRead = draft.may !== 'add'
  return (
    <Dialog
      title={key ? `Edit “${key.name}”` : 'Create a publishable key'}
      isOpen={isOpen}
      isLocked={isPending}
      onClose={onClose}
    >
      <form
        className="[&_p[id$=-about]]:mb-1.5 [&>fieldset]:mb-4"
        onSubmit={(event) => {
          event.preventDefault()
          const policy = policyOf(draft)
          if (key) change.mutate({ id: key.id, input: policy })
          else create.mutate({ name: draft.name, mode: draft.mode, sheetSlug: draft.sheetSlug, policy })
        }}
      >
        <p className="mb-4 text-caption text-soft">
          Use it in a web page, where everyone can see it. It has access to one sheet, and only to what you
          allow here.
        </p>
        {!key && (
          <>
            <TextField label="Name" required maxLength={100} placeholder="Product list" {...about('name')} />
            <SelectField label="Sheet" required {...about('sheetSlug')}>
              <option value="">Choose a sheet</option>
              {sheets.data?.map(({ slug }) => (
                <option key={slug} value={slug}>
                  {slug}
                </option>
              ))}
            </SelectField>
          </>
        )}
        <Choices<May>
          legend="Visitors can"
          name="may"
          value={draft.may}
          onChange={(may) => setDraft({ ...draft, may })}
          choices={[
            { value: 'read', title: 'Read', description: 'Read rows only.' },
            { value: 'add', title: 'Add', description: 'Add rows only.' },
            { value: 'read,add', title: 'Both', description: 'Read and add rows.' },
          ]}
        />
        <TextField
          label="Pages (origins)"
          required={!draft.isAnyOrigin}
          disabled={draft.isAnyOrigin}
          placeholder="https://example.com, https://*.example.com"
          {...about('origins')}
        />
        <div className="mb-4">
          <Switch
            label="Any page"
            description="Anyone can use the key from anywhere."
            checked={draft.isAnyOrigin}
            onChange={(isAnyOrigin) => setDraft({ ...draft, isAnyOrigin })}
          />
        </div>
        {canRead && (
          <>
            <TextField
              label="Columns that can be read"
              placeholder="All"
              hint="Other columns don’t exist for this key."
              {...about('readColumns')}
            />
            <TextField
              label="Only rows where"
              placeholder="published=true&price[gt]=0"
              hint="Filters as in a query string."
              {...about('where')}
            />
            <TextField label="Rows per response" inputMode="numeric" {...about('maxRows')} />
          </>
        )}
        {canAdd && (
          <>
            <TextField
              label="Columns that can be filled in"
              placeholder={canRead ? 'Those that can be read' : 'All'}
              hint="Names, comma-separated."
              {...about('writeColumns')}
            />
            <TextField
              label="Always set"
              placeholder="source=website, received=now()"
              hint="Stands in every new row, whatever is sent."
              {...about('set')}
            />
          </>
        )}
        <TextField
          label="Requests per minute from one visitor"
          inputMode="numeric"
          {...about('requestsPerMinute')}
        />
        <FormError>{refusal?.field && refusal.field !== 'may' ? null : error?.message}</FormError>
        <div className="flex justify-end gap-2">
          <Button disabled={isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" isBusy={isPending}>
            {key ? 'Save key' : 'Create key'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function draftOf({ name, sheetSlug, mode }: KeyView, policy: PolicyView): Draft {
  const { origins, may, readColumns, writeColumns, where, set, maxRows, requestsPerMinute } = policy
  return {
    name,
    sheetSlug: sheetSlug ?? '',
    mode,
    may: may.join() as May,
    isAnyOrigin: origins === 'any',
    origins: origins === 'any' ? '' : origins.join(', '),
    readColumns: readColumns?.join(', ') ?? '',
    writeColumns: writeColumns?.join(', ') ?? '',
    where: where ?? '',
    set: set.map(([column, value]) => `${column}=${value}`).join(', '),
    maxRows: String(maxRows),
    requestsPerMinute: String(requestsPerMinute),
  }
}

function policyOf(draft: Draft): PolicyView {
  const canAdd = draft.may !== 'read'
  const canRead = draft.may !== 'add'
  const columns = (text: string) => (listOf(text).length === 0 ? null : listOf(text))
  return {
    may: draft.may.split(',') as ('read' | 'add')[],
    origins: draft.isAnyOrigin ? 'any' : listOf(draft.origins),
    readColumns: canRead ? columns(draft.readColumns) : null,
    writeColumns: canAdd ? columns(draft.writeColumns) : null,
    where: (canRead && draft.where.trim()) || null,
    set: canAdd ? listOf(draft.set).map(setValue) : [],
    maxRows: Number(draft.maxRows),
    requestsPerMinute: Number(draft.requestsPerMinute),
  }
}

function listOf(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

/** `true`, `false` and plain numbers are such; every other value is a text. */
function setValue(pair: string): [string, string | number | boolean] {
  const [column = '', value = ''] = pair.split(/=(.*)/s, 2).map((part) => part.trim())
  if (value === 'true' || value === 'false') return [column, value === 'true']
  return [column, /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?$/.test(value) ? Number(value) : value]
}
