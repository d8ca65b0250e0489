import { useEffect, useState } from 'react'
import type { NewWebhookView } from '../../../../src/dashboard/contract.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton, CopyFrame, useCopying } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'

/** The one moment in which the secret can be read. Who loses it rotates it. */
export function NewSecretDialog({ made, onClose }: { made: NewWebhookView | null; onClose(): void }) {
  const [isCopied, setIsCopied] = useState(false)
  const copying = useCopying(made?.secret ?? '', () => setIsCopied(true))
  // biome-ignore lint/correctness/useExhaustiveDependencies: each secret is copied for itself
  useEffect(() => setIsCopied(false), [made])
  return (
    <Dialog title="The webhook’s secret" isOpen={made !== null} isLocked={!isCopied} onClose={onClose}>
      <p className="mb-3 rounded-md bg-warn-wash px-3 py-2 text-sm text-warn">
        Copy this secret now. You won’t be able to see it again. Your receiver verifies every request with it.
      </p>
      <CopyFrame copying={copying} className="flex flex-wrap items-center justify-end gap-2 pl-3">
        <code
          ref={copying.shown}
          data-testid="webhook-secret"
          className="min-w-0 flex-1 basis-64 font-mono text-caption break-all select-all"
        >
          {made?.secret}
        </code>
        <CopyButton copying={copying} look="primary" label="Copy secret" />
      </CopyFrame>
      <div className="mt-5 flex justify-end">
        <Button onClick={onClose}>{isCopied ? 'Done' : 'Close without copying'}</Button>
      </div>
    </Dialog>
  )
}
