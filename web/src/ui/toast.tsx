import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react'

const shownMs = 5_000
/** There must be time to decide. */
const shownWithActionMs = 12_000

export interface ToastAction {
  label: string
  act(): void
}
type ShowToast = (text: string, action?: ToastAction) => void

const Toasts = createContext<ShowToast>(() => {})

/** Says that something is done, for a moment; read out by screen readers. The action is never taken by itself. */
export function useToast(): ShowToast {
  return useContext(Toasts)
}

/** One at a time: the next takes the place of the last, so that they never pile up over the page. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [toast, setToast] = useState<{ text: string; action?: ToastAction | undefined } | null>(null)
  const show = useCallback<ShowToast>((text, action) => setToast({ text, action }), [])
  const hide = useCallback(() => setToast(null), [])
  useEffect(() => {
    if (!toast) return
    const timer = setTimeout(hide, toast.action ? shownWithActionMs : shownMs)
    return () => clearTimeout(timer)
  }, [toast, hide])
  return (
    <Toasts value={show}>
      {children}
      <div
        role="status"
        aria-live="polite"
        className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex justify-end max-sm:justify-center [body:has([data-bottom-bar])_&]:bottom-20"
      >
        {toast && (
          <p className="pointer-events-auto flex items-center gap-3 rounded-lg bg-ink py-2 pr-2 pl-4 text-sm text-paper shadow-lg">
            {toast.text}
            {toast.action && (
              <button
                type="button"
                onClick={() => {
                  hide()
                  toast.action?.act()
                }}
                className="rounded-md px-2 leading-6 font-semibold underline underline-offset-2"
              >
                {toast.action.label}
              </button>
            )}
            <button
              type="button"
              aria-label="Dismiss"
              onClick={hide}
              className="rounded-md px-2 leading-6 opacity-70 hover:opacity-100"
            >
              ×
            </button>
          </p>
        )}
      </div>
    </Toasts>
  )
}
