import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { SessionView, SheetSource, SheetView } from '../../src/dashboard/contract.ts'
import type { OwnerVerbs } from '../../src/dashboard/owner-verbs.ts'
import { get, Refused, send } from './api.ts'
import type { HistorySearch } from './pages/sheet/history/history-search.ts'
import { previewUndo } from './pages/sheet/history/undo-requests.ts'
import { readRow } from './pages/sheet/row/row-requests.ts'
import { naturally } from './ui/natural-order.ts'

/*
 * What pages ask the server for, each once. Where something has changed, `queryKey` says what is to be asked for again; a
 * shorter key means all that begin with it.
 */

/** A sign-in in another tab ends the session of before; until it is answered, the browser has none that is good. */
const betweenSessionsMs = 2_000

function askWhoIsThere(signal: AbortSignal): Promise<SessionView | null> {
  return get('GET /session', { signal }).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 401) return null
    throw error
  })
}

/** null when nobody is signed in. Whoever was is asked for twice: what they were doing is lost with the page. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal, client, queryKey }) => {
    const session = await askWhoIsThere(signal)
    if (session || !client.getQueryData(queryKey)) return session
    await new Promise((resolve) => setTimeout(resolve, betweenSessionsMs))
    return askWhoIsThere(signal)
  },
  staleTime: 60_000,
})

export const serverQuery = queryOptions({
  queryKey: ['server'],
  queryFn: ({ signal }) => get('GET /server', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** What others change shows up by itself: on coming back to the page, and every few seconds while it is watched. */
export const refetchMs = 8_000
const soonMs = 2_000
const laterMs = 30_000
/** A spreadsheet that cannot be read at all is not asked about so often for long. */
const looksAtUnread = 10

export const startQuery = queryOptions({
  queryKey: ['start'],
  queryFn: ({ signal }) => get('GET /start', { signal }),
  // The last step is seen as it happens.
  refetchInterval: ({ state }) => (state.data?.firstRequestAtMs === null ? soonMs : laterMs),
})

export const sheetsQuery = queryOptions({
  queryKey: ['sheets'],
  queryFn: ({ signal }) => get('GET /sheets', { signal }),
  select: (sheets) => sheets.toSorted((one, other) => naturally(one.slug, other.slug)),
})

export const sheetQuery = (slug: string) =>
  queryOptions({
    queryKey: ['sheets', slug],
    queryFn: ({ signal }) => get('GET /sheets/{slug}', { names: { slug }, signal }),
    // The server does not wait for a spreadsheet that takes long, and what it holds is known a moment later.
    refetchInterval: ({ state }) =>
      state.data?.rowCount === null && state.dataUpdateCount < looksAtUnread ? soonMs : refetchMs,
  })

/** The key of all pages of a sheet's rows. */
export const rowsOfQuery = (slug: string) => ['sheets', slug, 'rows'] as const

export const rowsQuery = (slug: string, parameters: URLSearchParams) =>
  queryOptions({
    queryKey: [...rowsOfQuery(slug), String(parameters)],
    queryFn: ({ signal }) => get('GET /sheets/{slug}/rows', { names: { slug }, query: parameters, signal }),
    placeholderData: keepPreviousData,
  })

/** One row as a client gets it, with what names it as it was. */
export const rowQuery = (sheet: SheetView, row: number) =>
  queryOptions({
    queryKey: ['sheets', sheet.slug, 'row', row],
    queryFn: () => readRow(sheet, row),
    // What somebody reads or edits does not change under their eyes.
    refetchInterval: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    staleTime: 0,
  })

export const historyQuery = (slug: string, { row, key, before }: HistorySearch) =>
  queryOptions({
    queryKey: ['sheets', slug, 'history', row ?? '', key ?? '', before ?? ''],
    queryFn: ({ signal }) =>
      get('GET /sheets/{slug}/history', {
        names: { slug },
        query: { row: row === undefined ? '' : String(row), key: key ?? '', before: before ?? '' },
        signal,
      }),
    // What is further back stays as it was.
    refetchInterval: before === undefined ? 5_000 : false,
    placeholderData: keepPreviousData,
  })

/** What would be done, as it is right now. */
export const undoPreviewQuery = (sheet: SheetView, operation: string) =>
  queryOptions({
    queryKey: ['sheets', sheet.slug, 'undo', operation],
    queryFn: () => previewUndo(sheet, operation),
    refetchInterval: false,
    refetchOnWindowFocus: false,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })

export const requestsQuery = (slug: string, limit: number) =>
  queryOptions({
    queryKey: ['sheets', slug, 'requests', limit],
    queryFn: ({ signal }) =>
      get('GET /sheets/{slug}/requests', { names: { slug }, query: { limit: String(limit) }, signal }),
    refetchInterval: 3_000,
    placeholderData: keepPreviousData,
  })

export const slugCheckQuery = (slug: string) =>
  queryOptions({
    queryKey: ['slug-check', slug],
    queryFn: ({ signal }) => get('GET /slug-check', { query: { slug }, signal }),
    refetchInterval: false,
    placeholderData: keepPreviousData,
  })

export const previewQuery = (source: SheetSource) =>
  queryOptions({
    queryKey: ['preview', source],
    queryFn: () => send('POST /preview', { input: source }),
    refetchInterval: false,
    staleTime: 30_000,
  })

export const filesQuery = queryOptions({
  queryKey: ['files'],
  queryFn: ({ signal }) => get('GET /files', { signal }),
})

export const connectionQuery = (provider: string) =>
  queryOptions({
    queryKey: ['connection', provider],
    queryFn: ({ signal }) => get('GET /{provider}', { names: { provider }, signal }),
  })

export const spreadsheetsQuery = (provider: string, search: string) =>
  queryOptions({
    queryKey: ['spreadsheets', provider, search],
    queryFn: ({ signal }) =>
      get('GET /{provider}/spreadsheets', { names: { provider }, query: { search }, signal }),
    refetchInterval: false,
    placeholderData: keepPreviousData,
  })

export const tabsQuery = (provider: string, pasted: string) =>
  queryOptions({
    queryKey: ['tabs', provider, pasted],
    queryFn: ({ signal }) =>
      get('GET /{provider}/spreadsheets/{pasted}/tabs', { names: { provider, pasted }, signal }),
    refetchInterval: false,
  })

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => get('GET /keys', { signal }),
})

export const formsQuery = queryOptions({
  queryKey: ['forms'],
  queryFn: ({ signal }) => get('GET /forms', { signal }),
  refetchInterval: 5_000,
})

export const formGuessQuery = (slug: string) =>
  queryOptions({
    queryKey: ['form-guess', slug],
    queryFn: ({ signal }) => get('GET /sheets/{slug}/form-guess', { names: { slug }, signal }),
    // What somebody edits does not change under their eyes.
    refetchInterval: false,
    refetchOnWindowFocus: false,
    retry: false,
  })

export const heldEntriesQuery = (id: string) =>
  queryOptions({
    queryKey: ['forms', id, 'entries'],
    queryFn: ({ signal }) => get('GET /forms/{id}/entries', { names: { id }, signal }),
    refetchInterval: 3_000,
  })

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: ({ signal }) => get('GET /webhooks', { signal }),
  refetchInterval: 5_000,
})

export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', id, 'deliveries'],
    queryFn: ({ signal }) => get('GET /webhooks/{id}/deliveries', { names: { id }, signal }),
    refetchInterval: 3_000,
  })

export const usageQuery = (filter: OwnerVerbs['GET /usage']['query']) =>
  queryOptions({
    queryKey: ['usage', filter],
    queryFn: ({ signal }) => get('GET /usage', { query: filter, signal }),
    placeholderData: keepPreviousData,
  })

export const auditQuery = queryOptions({
  queryKey: ['audit'],
  queryFn: ({ signal }) => get('GET /audit', { signal }),
})

export const sharesQuery = queryOptions({
  queryKey: ['shares'],
  queryFn: ({ signal }) => get('GET /shares', { signal }),
})

export const usedUpSharesQuery = queryOptions({
  queryKey: ['shares', 'used up'],
  queryFn: ({ signal }) => get('GET /shares/used-up', { signal }),
})
