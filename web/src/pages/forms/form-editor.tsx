import { type ReactNode, useDeferredValue, useRef, useState } from 'react'
import type { FormGuessView, FormWishInput } from '../../../../src/dashboard/contract.ts'
import { captchaKinds } from '../../../../src/http/form-markup.ts'
import { Refused } from '../../api.ts'
import { Button } from '../../ui/button.tsx'
import { Choices, FormError, SelectField, TextField } from '../../ui/field.tsx'
import { Card } from '../../ui/states.tsx'
import { FieldList } from './field-list.tsx'
import { blankField, type FormDraft, type SetDraft, setDraft, shownOf, wishOf } from './form-draft.ts'
import { FormPreview } from './form-preview.tsx'
import { TextArea } from './text-area.tsx'

/** Everything that can be said about a form, with the page that it makes beside it. */
export function FormEditor({
  start,
  guess,
  save,
  isBusy,
  error,
  onSave,
}: {
  start: FormDraft
  guess: FormGuessView
  /** On the button. */
  save: string
  isBusy: boolean
  error: Error | null
  onSave(wish: FormWishInput): void
}) {
  const [draft, setDraftState] = useState(start)
  const preview = useRef<HTMLElement>(null)
  const change = (some: Partial<FormDraft>) => setDraftState({ ...draft, ...some })
  const shown = useDeferredValue(draft)
  const refusal = error instanceof Refused ? error : null
  const wrong = (field: string) => (refusal?.field === field ? refusal.message : null)
  const about = (field: TextOf) => ({
    value: draft[field],
    // Without an error no room is kept for one: most fields here will never have one.
    error: wrong(field) ?? undefined,
    onChange: ({ target }: { target: { value: string } }) => change({ [field]: target.value }),
  })
  const taken = new Set([...draft.fields, ...draft.set].map(({ column }) => column))
  const left = guess.columns.filter((column) => !taken.has(column) && !column.startsWith('_'))
  return (
    <form
      className="[&_p[id$=-about]]:mb-1.5"
      onSubmit={(event) => {
        event.preventDefault()
        onSave(wishOf(draft))
      }}
    >
      <div className="grid grid-cols-1 gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]">
        <div className="min-w-0 space-y-5">
          <Card title="Heading" className={endsInField}>
            <TextField label="Title" required maxLength={200} {...about('name')} />
            <TextArea label="Introduction" placeholder="Optional" maxLength={2_000} {...about('intro')} />
          </Card>
          <Card title="Fields" className={left.length > 0 ? endsInField : ''}>
            <FieldList
              fields={draft.fields}
              error={wrong('fields') ?? wrong('writeColumns')}
              onChange={(fields) => change({ fields })}
            />
            {left.length > 0 && (
              <AddColumn
                columns={left}
                label="Add a field"
                onAdd={(column) => change({ fields: [...draft.fields, blankField(column, guess)] })}
              />
            )}
          </Card>
          <Card title="After sending" className={endsInField}>
            <Choices
              legend="Visitors see"
              name="afterwards"
              value={draft.afterwards}
              onChange={(afterwards) => change({ afterwards })}
              choices={[
                { value: 'thanks', title: 'A thank-you page', description: 'With your own words.' },
                { value: 'next', title: 'Your own page', description: 'The browser goes there.' },
              ]}
            />
            <div className="mt-4">
              {draft.afterwards === 'thanks' ? (
                <TextArea label="Thank-you message" placeholder="Your entry was sent." {...about('thanks')} />
              ) : (
                <TextField
                  label="Address"
                  type="url"
                  required
                  placeholder="https://example.com/thanks"
                  {...about('next')}
                />
              )}
            </div>
          </Card>
          <Card title="Set by Rowport" className={endsInField}>
            <p className="mb-3 text-caption text-soft">
              Set in every new row, whatever is submitted. <code className="font-mono">now()</code> is the
              time.
            </p>
            <SetList set={draft.set} error={wrong('set')} onChange={(set) => change({ set })} />
            {left.length > 0 && (
              <AddColumn
                columns={left}
                label="Set a column"
                onAdd={(column) => change({ set: [...draft.set, setDraft([column, ''])] })}
              />
            )}
          </Card>
          <Card title="Spam and limits" className={endsInField}>
            <p className="mb-3 text-caption text-soft">
              What is sent too quickly, or fills in a field that people can’t see, is held for you to look at.
            </p>
            <div className="grid grid-cols-1 gap-x-4 sm:grid-cols-3">
              <TextField label="Minimum seconds" inputMode="numeric" required {...about('minSeconds')} />
              <TextField
                label="Per minute, per visitor"
                inputMode="numeric"
                required
                {...about('entriesPerMinute')}
              />
              <TextField
                label="Per hour, in total"
                inputMode="numeric"
                required
                {...about('entriesPerHour')}
              />
            </div>
          </Card>
          <Card title="Captcha" className={endsInField}>
            <SelectField
              label="Provider"
              value={draft.captcha}
              onChange={({ target }) => change({ captcha: target.value as FormDraft['captcha'] })}
            >
              <option value="none">None</option>
              {Object.entries(captchaKinds).map(([kind, { title }]) => (
                <option key={kind} value={kind}>
                  {title}
                </option>
              ))}
            </SelectField>
            {draft.captcha !== 'none' && (
              <>
                <TextField label="Site key" required spellCheck={false} {...about('captchaSiteKey')} />
                <TextField
                  label="Secret key"
                  type="password"
                  autoComplete="off"
                  required={!hasSecret(draft, start)}
                  placeholder={hasSecret(draft, start) ? 'Saved' : ''}
                  hint="It is kept sealed and never shown again."
                  {...about('captchaSecret')}
                />
              </>
            )}
          </Card>
          <Card title="Other pages" className={endsInField}>
            <TextField
              label="May show it in a frame"
              placeholder="https://example.com"
              hint="Comma-separated origins. None unless you list some."
              {...about('framedBy')}
            />
            <TextField
              label="Can submit with their own HTML"
              placeholder="Any page"
              hint="Comma-separated origins. Any unless you list some."
              {...about('origins')}
            />
          </Card>
        </div>
        <section
          ref={preview}
          aria-label="Preview"
          className="min-w-0 scroll-mt-20 lg:sticky lg:top-6 lg:max-h-[calc(100dvh-7rem)] lg:self-start lg:overflow-y-auto"
        >
          <h2 className="mb-2 text-sm font-medium text-soft">Preview</h2>
          <FormPreview form={shownOf(shown)} />
        </section>
      </div>
      <div
        // What is said for a moment is shown above it, and not over its button: so it ends the page, without the room below all others.
        data-bottom-bar
        className="sticky bottom-0 z-10 mt-6 -mb-20 flex flex-wrap items-center justify-end gap-x-4 border-t border-line bg-paper py-3"
      >
        <FormError>
          {error && hasItsPlace(refusal?.field) ? 'Some settings need another look.' : error?.message}
        </FormError>
        <Button look="quiet" className="lg:hidden" onClick={() => preview.current?.scrollIntoView()}>
          See preview
        </Button>
        <Button type="submit" look="primary" isBusy={isBusy} disabled={draft.fields.length === 0}>
          {save}
        </Button>
      </div>
    </form>
  )
}

/** The room below a field is the card’s own, where one ends it. */
const endsInField = 'pb-2!'

type TextOf = { [Key in keyof FormDraft]: string extends FormDraft[Key] ? Key : never }[keyof FormDraft]

const placed = [
  ...['name', 'intro', 'fields', 'writeColumns', 'thanks', 'next', 'set', 'framedBy', 'origins'],
  ...['minSeconds', 'entriesPerMinute', 'entriesPerHour', 'captchaSiteKey', 'captchaSecret'],
]

/** The one of before is good as long as it is the same captcha. */
function hasSecret(draft: FormDraft, start: FormDraft): boolean {
  const isSame = draft.captcha === start.captcha && draft.captchaSiteKey.trim() === start.captchaSiteKey
  return isSame && start.captchaSiteKey !== ''
}

/** Whether what is wrong is said beside it. */
function hasItsPlace(field: string | null | undefined): boolean {
  return placed.includes(field ?? '')
}

function AddColumn({
  columns,
  label,
  onAdd,
}: {
  columns: readonly string[]
  label: string
  onAdd(column: string): void
}) {
  return (
    <div className="mt-3 max-w-xs">
      <SelectField
        label={label}
        value=""
        onChange={({ target }) => target.value !== '' && onAdd(target.value)}
      >
        <option value="">Choose a column</option>
        {columns.map((column) => (
          <option key={column} value={column}>
            {column}
          </option>
        ))}
      </SelectField>
    </div>
  )
}

function SetList({
  set,
  error,
  onChange,
}: {
  set: readonly SetDraft[]
  error: string | null
  onChange(set: readonly SetDraft[]): void
}): ReactNode {
  return (
    <>
      {set.map(({ id, column, value }, at) => (
        <div key={id} className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <TextField
              label={column}
              placeholder="A value, or now()"
              required
              value={value}
              onChange={({ target }) => onChange(set.with(at, { id, column, value: target.value }))}
            />
          </div>
          <Button look="quiet" className="mt-6.5" onClick={() => onChange(set.toSpliced(at, 1))}>
            Remove<span className="sr-only"> what is set in {column}</span>
          </Button>
        </div>
      ))}
      <p role="alert" className="text-caption text-bad empty:hidden">
        {error}
      </p>
    </>
  )
}
