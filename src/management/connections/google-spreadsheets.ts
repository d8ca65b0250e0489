import type { GoogleFiles, SpreadsheetTab } from '../../providers/google/google-files.ts'
import { googleKind } from '../../providers/google/google-kind.ts'
import { locateGoogleTab, parsePastedSpreadsheet } from '../../providers/google/google-location.ts'
import type { Place } from '../../sheets/provider.ts'
import { Problem } from '../problem.ts'
import { orProblem } from '../sheets/connecting.ts'
import { type GoogleConnection, notSetUp } from './google-connection.ts'

/** What an account can connect at Google: always through its own credential, never another's. */
export interface GoogleSpreadsheets {
  /** Those whose name has `search` in it, the newest first. 'not_allowed': the consent does not reach to a list. */
  list(accountId: string, search: string): Promise<SpreadsheetList | 'not_allowed' | Problem>
  /** `pasted`: an id, or a link as people paste it. */
  open(accountId: string, pasted: string): Promise<OpenedSpreadsheet | Problem>
  /** One tab by its title or Google's number; without either the one that the link names, else the first visible one. */
  locate(accountId: string, pasted: string, tab: string | number | null): Promise<LocatedTab | Problem>
}

export interface SpreadsheetList {
  spreadsheets: { spreadsheetId: string; title: string; modifiedAtMs: number }[]
  hasMore: boolean
}

export interface OpenedSpreadsheet {
  spreadsheetId: string
  title: string
  tabs: SpreadsheetTab[]
  /** The tab that the link leads to; null when it says none, or one that is gone. */
  linkedTabId: number | null
}

export interface LocatedTab {
  spreadsheetId: string
  tabId: number
  title: string
  tabTitle: string
  source: string
  place: Place & { credentialId: string }
}

export function createGoogleSpreadsheets(
  connection: Pick<GoogleConnection, 'status'>,
  files: GoogleFiles | null,
): GoogleSpreadsheets {
  return {
    async list(accountId, search) {
      const access = await accessOf(accountId)
      if (access instanceof Problem) return access
      return orProblem(googleKind, async () => {
        const page = await access.files.listSpreadsheets(access.credentialId, search)
        if (page === 'not_allowed') return page
        return { spreadsheets: page.spreadsheets, hasMore: page.nextPageToken !== null }
      })
    },
    open,
    async locate(accountId, pasted, tab) {
      const access = await accessOf(accountId)
      if (access instanceof Problem) return access
      const opened = await open(accountId, pasted)
      if (opened instanceof Problem) return opened
      const found = chosenTab(opened, tab)
      if (found instanceof Problem) return found
      const { spreadsheetId, title } = opened
      const { tabId, title: tabTitle } = found
      const { location, source } = locateGoogleTab({ spreadsheetId, tabId })
      // The titles are for people who look at a list; the ids find the tab, whatever it is called by then.
      const described = JSON.stringify({ ...JSON.parse(location), title, tabTitle })
      const place = { location: described, credentialId: access.credentialId }
      return { spreadsheetId, tabId, title, tabTitle, source, place }
    },
  }

  async function accessOf(
    accountId: string,
  ): Promise<{ files: GoogleFiles; credentialId: string } | Problem> {
    if (!files) return notSetUp
    const status = await connection.status(accountId)
    if (status?.state !== 'connected')
      return new Problem('Google is not connected; connect it first', { kind: 'provider' })
    return { files, credentialId: status.credentialId }
  }

  async function open(accountId: string, pasted: string): Promise<OpenedSpreadsheet | Problem> {
    const access = await accessOf(accountId)
    if (access instanceof Problem) return access
    const named = parsePastedSpreadsheet(pasted)
    if (!named) return notALink
    const { spreadsheetId, tabId } = named
    return orProblem(googleKind, async () => {
      const { title, tabs } = await access.files.listTabs(access.credentialId, spreadsheetId)
      const linkedTabId = tabs.some((tab) => tab.tabId === tabId) ? (tabId ?? null) : null
      return { spreadsheetId, title, tabs, linkedTabId }
    })
  }
}

function chosenTab(
  { title, tabs, linkedTabId }: OpenedSpreadsheet,
  wish: string | number | null,
): SpreadsheetTab | Problem {
  const wanted = wish ?? linkedTabId
  if (wanted !== null) {
    const found = tabs.find((tab) => tab.tabId === wanted || tab.title === wanted)
    if (found) return found
    const names = tabs.map((tab) => `"${tab.title}"`).join(', ')
    const missing = typeof wanted === 'string' ? `no tab named "${wanted}"` : 'no such tab any more'
    return new Problem(`"${title}" has ${missing}; its tabs are ${names}`)
  }
  const first = tabs.find(({ isHidden }) => !isHidden) ?? tabs[0]
  return first ?? new Problem(`"${title}" has no tab with cells`)
}

const notALink = new Problem(
  'that is not the link of a Google spreadsheet; it begins with https://docs.google.com/spreadsheets/d/',
)
