import type { Connection, ConnectionAccess, SpreadsheetTab } from '../../sheets/connection.ts'
import type { TabPlace } from '../../sheets/provider.ts'
import { Problem } from '../problem.ts'
import { orProblem } from '../sheets/provider-problem.ts'

/** What an account can make sheets of at one provider: always through its own credential, never another's. */
export interface Spreadsheets {
  /** Those whose name has `search` in it, the newest first. 'not_allowed': the access does not reach to a list. */
  list(accountId: string, search: string): Promise<SpreadsheetList | 'not_allowed' | Problem>
  /** `pasted`: an id, or a link as people paste it. */
  open(accountId: string, pasted: string): Promise<OpenedSpreadsheet | Problem>
  /** One tab by its title or the provider's number; without either the one that the link names, else the first visible one. */
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
  /** What opens it; null where everybody may read it. */
  credentialId: string | null
}

export interface LocatedTab {
  spreadsheetId: string
  tabId: number
  title: string
  tabTitle: string
  source: string
  place: TabPlace
}

/** An account's own way in; `credentialId`: null for one that is not connected and may read what everybody may. */
export interface OwnAccess {
  access: ConnectionAccess
  credentialId: string | null
}

export function createSpreadsheets(
  { kind, words }: Pick<Connection, 'kind' | 'words'>,
  accessOf: (accountId: string) => Promise<OwnAccess | Problem>,
): Spreadsheets {
  return {
    async list(accountId, search) {
      const own = await accessOf(accountId)
      if (own instanceof Problem) return own
      const { credentialId } = own
      if (!kind.canBeListed || credentialId === null) return 'not_allowed'
      return orProblem(kind, async () => {
        const page = await own.access.listSpreadsheets(credentialId, search)
        if (page === 'not_allowed') return page
        return { spreadsheets: page.spreadsheets, hasMore: page.nextPageToken !== null }
      })
    },
    open,
    async locate(accountId, pasted, tab) {
      const own = await accessOf(accountId)
      if (own instanceof Problem) return own
      const opened = await open(accountId, pasted)
      if (opened instanceof Problem) return opened
      const found = chosenTab(opened, tab)
      if (found instanceof Problem) return found
      const { spreadsheetId, title, credentialId } = opened
      const { tabId, title: tabTitle } = found
      const chosen = { spreadsheetId, tabId, title, tabTitle }
      const { location, source } = own.access.locate(chosen)
      return { ...chosen, source, place: { location, credentialId } }
    },
  }

  async function open(accountId: string, pasted: string): Promise<OpenedSpreadsheet | Problem> {
    const own = await accessOf(accountId)
    if (own instanceof Problem) return own
    const named = own.access.parsePasted(pasted)
    if (!named) return new Problem(words.notALink)
    const opened = await openAs(accountId, own.credentialId, own.access, named)
    if (!(opened instanceof Problem) || own.credentialId === null || !own.access.readsPublic) return opened
    // What was never chosen for us may be open to everybody all the same.
    const openToAll = await openAs(accountId, null, own.access, named)
    return openToAll instanceof Problem ? opened : openToAll
  }

  function openAs(
    accountId: string,
    credentialId: string | null,
    access: ConnectionAccess,
    { spreadsheetId, tabId }: { spreadsheetId: string; tabId?: number },
  ): Promise<OpenedSpreadsheet | Problem> {
    return orProblem(kind, async () => {
      const { title, tabs } = await access.listTabs(credentialId, spreadsheetId, accountId)
      const linkedTabId = tabs.some((tab) => tab.tabId === tabId) ? (tabId ?? null) : null
      return { spreadsheetId, title, tabs, linkedTabId, credentialId }
    })
  }
}

/** In a sentence. */
const mostTabsNamed = 50

function chosenTab(
  { title, tabs, linkedTabId }: OpenedSpreadsheet,
  wish: string | number | null,
): SpreadsheetTab | Problem {
  const wanted = wish ?? linkedTabId
  if (wanted !== null) {
    const found = tabs.find((tab) => tab.tabId === wanted || tab.title === wanted)
    if (found) return found
    const named = tabs.slice(0, mostTabsNamed).map((tab) => `"${tab.title}"`)
    const names = [...named, ...(tabs.length > named.length ? ['and others'] : [])].join(', ')
    const missing = typeof wanted === 'string' ? `no tab named "${wanted}"` : 'no such tab anymore'
    return new Problem(`"${title}" has ${missing}; its tabs are ${names}`)
  }
  const first = tabs.find(({ isHidden }) => !isHidden) ?? tabs[0]
  return first ?? new Problem(`"${title}" has no tab with cells`)
}
