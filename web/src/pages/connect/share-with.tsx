import { CopyButton, CopyFrame, useCopying } from '../../ui/copy.tsx'

/** For access that is nobody's own: the address with which the owner shares what Rowport may use. */
export function ShareWith({ address, isAwaited = false }: { address: string; isAwaited?: boolean }) {
  const copying = useCopying(address)
  return (
    <div className="my-4 rounded-xl border border-line bg-raised px-4 py-3">
      <p className="mb-2 text-sm">
        Open your spreadsheet, choose Share, and add this address as Editor (or as Viewer, to read only):
      </p>
      <CopyFrame copying={copying} className="flex flex-wrap items-center gap-2">
        <code ref={copying.shown} className="text-caption break-all">
          {address}
        </code>
        <CopyButton copying={copying} about="the address to share with" />
      </CopyFrame>
      {isAwaited && (
        <p role="status" className="mt-2 text-caption text-soft">
          Waiting until it is shared. This page continues by itself.
        </p>
      )}
    </div>
  )
}
