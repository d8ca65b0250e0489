import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { slugCheckQuery } from '../../../queries.ts'
import { useSession } from '../../../session.ts'
import { Button } from '../../../ui/button.tsx'
import { ConfirmDialog } from '../../../ui/dialog.tsx'
import { Section } from '../../../ui/section.tsx'
import { canBeSlug, SlugField } from '../../../ui/slug-field.tsx'
import { useSheetChange } from '../sheet-change.ts'

export function NameSection({ sheet }: { sheet: SheetView }) {
  const { account, server } = useSession()
  const navigate = useNavigate()
  const [slug, setSlug] = useState(sheet.slug)
  const [isAsking, setIsAsking] = useState(false)
  const isNew = slug !== sheet.slug
  const checked = useDeferredValue(slug)
  const check = useQuery({ ...slugCheckQuery(checked), enabled: isNew && canBeSlug(checked) })
  const rename = useSheetChange({
    said: 'Sheet renamed.',
    onSaved: ({ slug: renamed }) =>
      void navigate({ to: '/sheets/$slug/settings', params: { slug: renamed }, replace: true }),
  })
  return (
    <Section title="Name" about="Part of the sheet’s by-name URL.">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setIsAsking(true)
        }}
      >
        <SlugField
          label="URL name"
          value={slug}
          hint={`${server.baseUrl}/api/sheets/${account.slug}/${slug}`}
          error={isNew ? (check.data?.problem ?? null) : null}
          onChange={setSlug}
        />
        <Button type="submit" disabled={!isNew || !canBeSlug(slug) || Boolean(check.data?.problem)}>
          Rename
        </Button>
      </form>
      <ConfirmDialog
        title={`Rename “${sheet.slug}” to “${slug}”?`}
        confirm="Rename sheet"
        isOpen={isAsking}
        isBusy={rename.isPending}
        error={rename.error?.message}
        onConfirm={() => rename.mutate({ slug: sheet.slug, settings: { slug } })}
        onClose={() => {
          setIsAsking(false)
          rename.reset()
        }}
      >
        <p>
          <strong className="font-mono">{sheet.paths.formA}</strong> will stop working immediately. The by-ID
          URL and all keys keep working.
        </p>
      </ConfirmDialog>
    </Section>
  )
}
