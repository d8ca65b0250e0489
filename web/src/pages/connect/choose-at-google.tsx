import { GoToGoogle } from './connect-google.tsx'

/** Where Google gives Rowport single spreadsheets only: the way to more of them. */
export function ChooseAtGoogle({ className = '' }: { className?: string }) {
  return (
    <div className={className}>
      <p className="mb-3 max-w-prose text-sm text-soft">
        Is one missing? Rowport may use only spreadsheets that you choose on Google’s own page; to Rowport all
        others do not exist, even by their link. Those that you chose before stay chosen.
      </p>
      <GoToGoogle label="Choose spreadsheets at Google" returnTo="/connect" look="secondary" />
    </div>
  )
}
