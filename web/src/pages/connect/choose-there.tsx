import type { ConnectableSource } from '../../sources.ts'
import { GoToProvider } from './connect-source.tsx'

/** Where a provider gives Rowport single spreadsheets only: the way to more of them. */
export function ChooseThere({
  source: { provider, name },
  className = '',
}: {
  source: ConnectableSource
  className?: string
}) {
  return (
    <div className={className}>
      <p className="mb-3 max-w-prose text-sm text-soft">
        Don’t see a spreadsheet? Rowport can only see files you select in {name}’s picker; pasting a link
        isn’t enough. Files you selected earlier stay selected.
      </p>
      <GoToProvider
        provider={provider}
        label={`Select spreadsheets in ${name}`}
        returnTo="/connect"
        look="secondary"
      />
    </div>
  )
}
