import type { NewKeyView } from '../../../../src/dashboard/contract.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'

/** The one moment in which the value can be read. */
export function NewKeyDialog({ made, onClose }: { made: NewKeyView | null; onClose(): void }) {
  return (
    <Dialog title="Your new API key" isOpen={made !== null} onClose={onClose}>
      <p className="mb-3 rounded-md bg-warn-wash px-3 py-2 text-sm text-warn">
        Copy it now: you will not see this again. Rowport keeps only a fingerprint of it.
      </p>
      <div className="flex flex-wrap items-center justify-end gap-2 rounded-lg border border-line bg-sunken p-2 pl-3">
        <code data-testid="key-value" className="min-w-0 flex-1 basis-64 font-mono text-[13px] break-all">
          {made?.value}
        </code>
        <CopyButton text={made?.value ?? ''} look="primary" label="Copy key" />
      </div>
      <div className="mt-5 flex justify-end">
        <Button onClick={onClose}>I have copied it</Button>
      </div>
    </Dialog>
  )
}
