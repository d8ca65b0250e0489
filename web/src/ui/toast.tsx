import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react'

interface Toast {
  id: number
  text: string
}

const shownMs = 4_000
const Toasts = createContext<(text: string) => void>(() => {})

/** Says that something is done, for a moment; read out by screen readers. */
export function useToast(): (text: string) => void {
  return useContext(Toasts)
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([])
  const show = useCallback((text: string) => {
    const id = Date.now() + Math.random()
    setToasts((shown) => [...shown.slice(-2), { id, text }])
    setTimeout(() => setToasts((shown) => shown.filter((toast) => toast.id !== id)), shownMs)
  }, [])
  const value = useMemo(() => show, [show])
  return (
    <Toasts value={value}>
      {children}
      <div
        role="status"
        aria-live="polite"
        className="pointer-events-none fixed inset-x-0 bottom-4 z-50 flex flex-col items-center gap-2 px-4"
      >
        {toasts.map(({ id, text }) => (
          <p key={id} className="rounded-lg bg-ink px-4 py-2 text-sm text-paper shadow-lg">
            {text}
          </p>
        ))}
      </div>
    </Toasts>
  )
}
