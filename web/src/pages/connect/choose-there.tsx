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
        Is one missing? Rowport may use only spreadsheets that you choose on {name}’s own page; to Rowport all
        others do not exist, even by their link. Those that you chose before stay chosen.
      </p>
      <GoToProvider
        provider={provider}
        label={`Choose spreadsheets at ${name}`}
        returnTo="/connect"
        look="secondary"
      />
    </div>
  )
}
