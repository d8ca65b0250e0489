import {
  MutationCache,
  notifyManager,
  QueryCache,
  QueryClient,
  QueryClientProvider,
} from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Refused } from './api.ts'
import { refetchMs, sessionQuery } from './queries.ts'
import { createRoutes } from './routes.tsx'
import './theme.css'
import { ToastProvider } from './ui/toast.tsx'

/** Whoever is signed out elsewhere is shown the way in again, not an error. */
function onError(error: Error): void {
  if (error instanceof Refused && error.code === 'not_signed_in')
    // Who asks already is not made to begin again: pages that ask more often than that takes would never be told.
    void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey }, { cancelRefetch: false })
}

const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      networkMode: 'always',
      // Its default hangs on the network mode.
      refetchOnReconnect: true,
      staleTime: 2_000,
      refetchInterval: refetchMs,
      retry: (failures, error) =>
        failures < 2 &&
        navigator.onLine &&
        !(error instanceof Refused && error.status > 0 && error.status < 500),
    },
    // Nothing waits for the network to be sent later, when nobody asks for it any more; nothing is sent twice.
    mutations: { networkMode: 'always', retry: false },
  },
})

// Its default is a timer: what is being sent could still be cancelled, with a key that was pressed before that ran.
notifyManager.setScheduler(queueMicrotask)

const root = document.getElementById('root')
if (!root) throw new Error('The page has no root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <ToastProvider>
        <RouterProvider router={createRoutes(queryClient)} />
      </ToastProvider>
    </QueryClientProvider>
  </StrictMode>,
)
