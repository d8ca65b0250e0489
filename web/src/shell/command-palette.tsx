import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useId, useState } from 'react'
import type { PageAddress } from '../../../src/dashboard/pages.ts'
import { basePath } from '../base-path.ts'
import { isActive } from '../pages/keys/key-state.tsx'
import { keysQuery, sheetsQuery } from '../queries.ts'
import { Dialog } from '../ui/dialog.tsx'

/** Somewhere to go, and what one may type to find it. */
interface Destination {
  label: string
  /** Where several have the same name: what it is. */
  kind: string
  to: PageAddress
  slug?: string
  /** What to look for there. */
  q?: string
}

const partsOfSheet = [
  { label: 'rows', to: '/sheets/$slug/rows' },
  { label: 'console', to: '/sheets/$slug/console' },
  { label: 'history', to: '/sheets/$slug/history' },
  { label: 'requests', to: '/sheets/$slug/requests' },
  { label: 'settings', to: '/sheets/$slug/settings' },
] as const

const mostShown = 9
const docs = { to: '/docs', label: 'Docs', kind: 'Page', slug: undefined, q: undefined } as const

/** Goes anywhere by a few letters. Only there while it is open, so that what was typed is gone the next time. */
export function CommandPalette({
  pages,
  onClose,
}: {
  pages: readonly { to: PageAddress; label: string }[]
  onClose(): void
}) {
  const listId = useId()
  const navigate = useNavigate()
  const { data: sheets = [] } = useQuery(sheetsQuery)
  const { data: keys = [] } = useQuery(keysQuery)
  const [typed, setTyped] = useState('')
  const [chosenAt, setChosenAt] = useState(0)
  const found = matching(destinationsOf(pages, sheets, keys.filter(isActive)), typed)
  const shown = found.slice(0, mostShown)
  const chosen = shown[Math.min(chosenAt, shown.length - 1)]

  const goTo = ({ to, slug, q }: Destination | typeof docs) => {
    onClose()
    // Pages of the server itself.
    if (to === docs.to) window.location.assign(basePath + to)
    else void navigate({ to, params: { slug: slug ?? '' }, search: q === undefined ? {} : { q } })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined && event.key !== 'Enter') return
    event.preventDefault()
    if (event.key === 'Enter' && chosen) goTo(chosen)
    if (step !== undefined && shown.length > 0)
      setChosenAt((Math.min(chosenAt, shown.length - 1) + step + shown.length) % shown.length)
  }

  return (
    <Dialog title="Go to" isOpen onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Page, sheet or key"
        aria-expanded={shown.length > 0}
        aria-controls={listId}
        aria-activedescendant={chosen && `${listId}-${shown.indexOf(chosen)}`}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        autoFocus
        placeholder="Type a few letters"
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value)
          setChosenAt(0)
        }}
        onKeyDown={onKeyDown}
        className="w-full rounded-md border border-line-strong bg-raised px-3 py-2 text-sm"
      />
      <div id={listId} role="listbox" aria-label="Pages, sheets and keys" className="mt-3">
        {shown.map((destination, at) => (
          <button
            key={`${destination.to} ${destination.slug ?? destination.label}`}
            id={`${listId}-${at}`}
            type="button"
            role="option"
            aria-selected={destination === chosen}
            tabIndex={-1}
            onClick={() => goTo(destination)}
            className={`flex w-full items-baseline justify-between gap-4 rounded-md px-3 py-1.5 text-left text-sm ${destination === chosen ? 'bg-accent-wash text-accent' : 'hover:bg-sunken'}`}
          >
            <span className="truncate">{destination.label}</span>
            <span className="shrink-0 text-caption text-soft">{destination.kind}</span>
          </button>
        ))}
      </div>
      <p role="status" className="mt-3 text-caption text-soft">
        {found.length === 0
          ? `Nothing is called “${typed.trim()}”.`
          : found.length > mostShown
            ? `${found.length - mostShown} more. Keep typing to narrow the list.`
            : ''}
      </p>
    </Dialog>
  )
}

function destinationsOf(
  pages: readonly { to: PageAddress; label: string }[],
  sheets: readonly { slug: string }[],
  keys: readonly { name: string }[],
): (Destination | typeof docs)[] {
  // Several may have one name; the list of keys then shows them all.
  const names = new Set(keys.map(({ name }) => name))
  return [
    ...pages.map(({ to, label }) => ({ to, label, kind: 'Page' })),
    { to: '/connect', label: 'Connect a sheet', kind: 'Page' },
    docs,
    ...sheets.map(({ slug }) => ({ to: '/sheets/$slug', slug, label: slug, kind: 'Sheet' }) as const),
    ...sheets.flatMap(({ slug }) =>
      partsOfSheet.map(({ to, label }) => ({ to, slug, label: `${slug} ${label}`, kind: 'Sheet' })),
    ),
    ...[...names].map((name) => ({ to: '/keys', q: name, label: name, kind: 'API key' }) as const),
  ]
}

/** Every word must be in it; where the name begins like that comes first. */
function matching<Any extends { label: string }>(destinations: readonly Any[], typed: string): Any[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const found = destinations.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
  const begins = ({ label }: Any) => label.toLowerCase().startsWith(words[0] ?? '')
  return [...found.filter(begins), ...found.filter((destination) => !begins(destination))]
}
