import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from './button.tsx'
import { FormError } from './field.tsx'

/**
 * The browser's own modal: it keeps the focus, closes on Escape and makes the rest inert. While it is locked, only the page
 * closes it; Escape then does `onEscape`.
 */
export function Dialog({
  title,
  isOpen,
  isLocked = false,
  isSide = false,
  isWide = false,
  onEscape,
  onClose,
  children,
}: {
  title: string
  isOpen: boolean
  isLocked?: boolean
  /** At the right edge, over the whole height: for what is read beside the page. */
  isSide?: boolean
  /** For what has long lines, such as code. */
  isWide?: boolean
  onEscape?: () => void
  onClose(): void
  children: ReactNode
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const element = dialog.current
    if (isOpen && element && !element.open) element.showModal()
    if (!isOpen && element?.open) element.close()
  }, [isOpen])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      closedby={isLocked ? 'none' : 'closerequest'}
      onKeyDown={({ key }) => {
        if (isLocked && key === 'Escape') onEscape?.()
      }}
      // For browsers that do not know `closedby`.
      onCancel={(event) => {
        if (isLocked) event.preventDefault()
      }}
      onClose={({ target, currentTarget }) => {
        // React also tells of one that was asked within this one.
        if (target !== currentTarget) return
        if (isLocked && isOpen) dialog.current?.showModal()
        else onClose()
      }}
      className={`border-line bg-raised p-0 shadow-2xl ${isSide ? 'mr-0 ml-auto h-dvh max-h-dvh w-full max-w-xl border-l' : `m-auto w-[calc(100%-1.5rem)] rounded-xl border ${isWide ? 'max-w-2xl' : 'max-w-lg'}`}`}
    >
      {isOpen && (
        <div className="p-5 sm:p-6">
          <h2 id={titleId} className="mb-3 text-lg font-semibold tracking-tight">
            {title}
          </h2>
          {children}
        </div>
      )}
    </dialog>
  )
}

/** Asks before something breaks; the sentence says what. What is being sent cannot be cancelled any more. */
export function ConfirmDialog({
  title,
  confirm,
  isOpen,
  isBusy,
  isReady = true,
  error,
  onConfirm,
  onClose,
  children,
}: {
  title: string
  confirm: string
  isOpen: boolean
  isBusy: boolean
  /** Whether it may be confirmed yet. */
  isReady?: boolean
  error?: string | null | undefined
  onConfirm(): void
  onClose(): void
  children: ReactNode
}) {
  return (
    <Dialog title={title} isOpen={isOpen} isLocked={isBusy} onClose={onClose}>
      <div className="text-sm text-soft [&_strong]:font-medium [&_strong]:text-ink">{children}</div>
      <FormError>{error}</FormError>
      <div className="mt-5 flex justify-end gap-2">
        <Button disabled={isBusy} onClick={onClose}>
          Cancel
        </Button>
        <Button look="danger" isBusy={isBusy} disabled={!isReady} onClick={onConfirm}>
          {confirm}
        </Button>
      </div>
    </Dialog>
  )
}
