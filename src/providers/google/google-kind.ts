import type { ProviderKind } from '../../sheets/provider-kind.ts'

export const googleKind = {
  id: 'google',
  name: 'Google',
  title: 'Google Sheets',
  connectsBy: ['consent', 'key'],
  keyCommand: 'service-account',
  canBeProven: true,
  canBeListed: true,
  hasTabs: true,
  whenAccessEnded: 'Google no longer lets Rowport in; reconnect Google',
  describe(location: string) {
    const { spreadsheetId, tabId = 0, title, tabTitle = null } = JSON.parse(location) as DescribedLocation
    return {
      words: title === undefined ? `Google spreadsheet ${spreadsheetId}` : `${title} · ${tabTitle}`,
      tab: tabTitle,
      url: `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit#gid=${tabId}`,
      path: null,
    }
  },
} as const satisfies ProviderKind

/** The titles are for people who look at a list; the ids find the tab, whatever it is called by then. */
interface DescribedLocation {
  spreadsheetId: string
  tabId?: number
  title?: string
  tabTitle?: string
}
