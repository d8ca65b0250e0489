import { useBlocker } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { NewKeyView } from '../../../../src/dashboard/contract.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton, CopyFrame, useCopying } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { AgentLines } from './agent-lines.tsx'
import { TryKey } from './try-key.tsx'

/** The one moment in which the value can be read: before it is copied, whoever closes it is asked once. */
export function NewKeyDialog({ made, onClose }: { made: NewKeyView | null; onClose(): void }) {
  const [isCopied, setIsCopied] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const copying = useCopying(made?.value ?? '', () => setIsCopied(true))
  // biome-ignore lint/correctness/useExhaustiveDependencies: each key is copied for itself
  useEffect(() => {
    setIsCopied(false)
    setIsAsking(false)
  }, [made])
  const isUncopied = made !== null && !isCopied
  useBlocker({
    disabled: !isUncopied,
    shouldBlockFn: () => {
      setIsAsking(true)
      return true
    },
  })
  return (
    <Dialog
      title="Your new API key"
      isOpen={made !== null}
      isWide
      isLocked={isUncopied}
      onEscape={() => setIsAsking(!isAsking)}
      onClose={onClose}
    >
      <p className="mb-3 rounded-md bg-warn-wash px-3 py-2 text-sm text-warn">
        Copy this key now. You won’t be able to see it again; Rowport stores only a hash.
      </p>
      <CopyFrame copying={copying} className="flex flex-wrap items-center justify-end gap-2 pl-3">
        <code
          ref={copying.shown}
          data-testid="key-value"
          className="min-w-0 flex-1 basis-64 font-mono text-caption break-all select-all"
        >
          {made?.value}
        </code>
        <CopyButton copying={copying} look="primary" label="Copy key" />
      </CopyFrame>
      {made && <TryKey made={made} />}
      {made && <AgentLines made={made} />}
      {isAsking && isUncopied ? (
        <div className="mt-5">
          <p role="alert" className="mb-3 text-sm">
            You haven’t copied this key. Once you close this, nobody can see it again.
          </p>
          {/* What loses nothing comes to lie under a second click on Done. */}
          <div className="flex flex-wrap justify-end gap-2">
            <Button look="danger" onClick={onClose}>
              Close without copying
            </Button>
            <Button autoFocus onClick={() => setIsAsking(false)}>
              Back to the key
            </Button>
          </div>
        </div>
      ) : (
        <div className="mt-5 flex justify-end">
          <Button onClick={() => (isUncopied ? setIsAsking(true) : onClose())}>Done</Button>
        </div>
      )}
    </Dialog>
  )
}
