/** Which tab of which spreadsheet. Both ids outlive renaming. */
export interface GoogleLocation {
  spreadsheetId: string
  /** Google's `sheetId`, the `gid` of its addresses. */
  tabId: number
}

const spreadsheetIdShape = /^[A-Za-z0-9_-]{20,100}$/
const hosts = /^(?:docs|drive|sheets)\.google\.com$/i

/**
 * A spreadsheet as people paste it: an address of any age, or the id alone. null for anything else, also for the
 * address of a published copy (`/d/e/2PACX-…`), which does not say what it is a copy of.
 */
export function parsePastedSpreadsheet(pasted: string): { spreadsheetId: string; tabId?: number } | null {
  const text = pasted.trim()
  if (spreadsheetIdShape.test(text)) return { spreadsheetId: text }
  const address = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`
  if (!URL.canParse(address)) return null
  const url = new URL(address)
  if (!/^https?:$/.test(url.protocol) || !hosts.test(url.hostname)) return null
  const [, inPath] =
    /^(?:\/a\/[^/]+)?\/(?:spreadsheets|file)\/(?:u\/\d+\/)?d\/([^/]+)/.exec(url.pathname) ?? []
  const spreadsheetId = inPath ?? url.searchParams.get('id') ?? url.searchParams.get('key') ?? ''
  if (!spreadsheetIdShape.test(spreadsheetId)) return null
  // The fragment follows the tab that is open; what the query says may be where the visit began.
  const gid = /(?:^|[#&])gid=(\d{1,10})(?:&|$)/.exec(url.hash)?.[1] ?? url.searchParams.get('gid') ?? ''
  return /^\d{1,10}$/.test(gid) ? { spreadsheetId, tabId: Number(gid) } : { spreadsheetId }
}

/** Location and source of a tab, as the store keeps them. All tabs of a spreadsheet share one lane of writes. */
export function locateGoogleTab({ spreadsheetId, tabId }: GoogleLocation): {
  location: string
  source: string
} {
  return { location: JSON.stringify({ spreadsheetId, tabId }), source: `google:${spreadsheetId}` }
}

export function parseGoogleLocation(location: string): GoogleLocation {
  return JSON.parse(location) as GoogleLocation
}
