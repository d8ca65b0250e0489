import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { sessionQuery } from '../queries.ts'
import { useSilence } from '../reachability.ts'
import { timeOf } from '../ui/time.tsx'

/** The page looks alive without a server; this says that it is not. It lies over the page, so that nothing moves under a click. */
export function SilenceBar() {
  const queryClient = useQueryClient()
  const silence = useSilence()
  useEffect(() => {
    // What the browser believes about its network is only a reason to ask the server.
    const ask = () => void queryClient.refetchQueries({ queryKey: sessionQuery.queryKey })
    window.addEventListener('offline', ask)
    window.addEventListener('online', ask)
    return () => {
      window.removeEventListener('offline', ask)
      window.removeEventListener('online', ask)
    }
  }, [queryClient])
  return (
    <div role="status" aria-live="polite" className="pointer-events-none fixed inset-x-0 bottom-0 z-40">
      {silence && (
        <p className="border-t border-warn/30 bg-warn-wash px-4 py-2 text-center text-caption text-balance text-warn">
          {silence.isOffline ? 'You’re offline. ' : 'Can’t reach Rowport. '}
          Showing data from {timeOf(silence.sinceMs)}. Changes you make now won’t be sent, now or later.
        </p>
      )}
    </div>
  )
}
