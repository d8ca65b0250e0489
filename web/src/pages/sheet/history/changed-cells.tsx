import type { CellView } from '../../../../../src/dashboard/contract.ts'
import { Badge } from '../../../ui/states.tsx'

const tones = { added: 'good', updated: 'plain', deleted: 'bad' } as const
const words = { added: 'Added', updated: 'Changed', deleted: 'Deleted' } as const

export interface ChangedRow {
  kind: 'added' | 'updated' | 'deleted'
  row: number | null
  key?: CellView
  before: Record<string, CellView> | null
  after: Record<string, CellView> | null
}

/** One row, before and after, by column: what stayed is left out. */
export function ChangedCells({ of: { kind, row, key = null, before, after } }: { of: ChangedRow }) {
  const names = Object.keys(after ?? before ?? {}).filter((name) => {
    const [was, is] = [before?.[name] ?? null, after?.[name] ?? null]
    return kind === 'updated' ? was !== is : (was ?? is) !== null
  })
  return (
    <li className="grid gap-x-4 gap-y-1.5 px-4 py-3 sm:grid-cols-[8.5rem_minmax(0,1fr)]">
      <div className="flex flex-wrap items-center gap-2 self-start text-caption">
        <Badge tone={tones[kind]}>{words[kind]}</Badge>
        <span className="wrap-anywhere text-soft">
          {key !== null ? String(key) : row !== null && `Row ${row}`}
        </span>
      </div>
      <dl className="min-w-0 space-y-1 text-sm">
        {names.map((name) => (
          <div key={name} className="grid gap-x-3 sm:grid-cols-[8rem_minmax(0,1fr)]">
            <dt className="text-caption wrap-anywhere text-soft">{name}</dt>
            <dd className="min-w-0 wrap-anywhere whitespace-pre-wrap">
              {kind !== 'added' && <Was value={before?.[name] ?? null} />}
              {kind === 'updated' && (
                <span aria-hidden="true" className="mx-1.5 text-soft">
                  →
                </span>
              )}
              {kind !== 'deleted' && <Is value={after?.[name] ?? null} />}
            </dd>
          </div>
        ))}
        {names.length === 0 && <div className="text-soft">A blank row</div>}
      </dl>
    </li>
  )
}

function Was({ value }: { value: CellView }) {
  return (
    <del className="rounded-sm bg-bad-wash px-1 text-bad decoration-bad/50">
      <span className="sr-only">was </span>
      {shown(value)}
    </del>
  )
}

function Is({ value }: { value: CellView }) {
  return (
    <ins className="rounded-sm bg-good-wash px-1 text-good no-underline">
      <span className="sr-only">is now </span>
      {shown(value)}
    </ins>
  )
}

const mostCharacters = 400

function shown(value: CellView): string {
  if (value === null) return 'empty'
  const text = String(value)
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text
}
