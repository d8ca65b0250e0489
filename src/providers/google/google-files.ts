import type { SpreadsheetPage, SpreadsheetTab, SpreadsheetTabs } from '../../sheets/connection.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import type { Store } from '../../store/store.ts'
import { boundPieces, isTooLarge } from '../remote/bounded-body.ts'
import { fieldsOf, listOf, parseJsonBytes, textOf } from '../remote/json-fields.ts'
import type { GoogleCalls, GoogleService } from './client/google-call.ts'
import type { GoogleEndpoints } from './client/google-endpoints.ts'
import { ApiSwitchedOff, unreadable } from './client/google-errors.ts'
import { scopeUrl } from './oauth/google-consent.ts'
import { isServiceAccount } from './oauth/service-account.ts'

/** What an owner can choose from when connecting a sheet. */
export interface GoogleFiles {
  /**
   * Newest first, a page of at most 100. 'not_allowed' when the owner's consent does not reach to listing: then a
   * pasted address is the way.
   */
  listSpreadsheets(
    credentialId: string,
    search?: string,
    pageToken?: string,
  ): Promise<SpreadsheetPage | 'not_allowed'>
  /** `accountId`: for whom, where there is no credential. */
  listTabs(credentialId: string | null, spreadsheetId: string, accountId?: string): Promise<SpreadsheetTabs>
}

export interface FilesParts {
  calls: GoogleCalls
  endpoints: GoogleEndpoints
  store: Pick<Store, 'findCredential'>
}

const pageSize = 100
/** Some four thousand tabs. A list is read by the thread that answers everybody, and shown whole. */
const mostListedBytes = 512 * 1024
const scopesThatList = ['drive', 'drive.readonly', 'drive.file', 'drive.metadata', 'drive.metadata.readonly']

export function createGoogleFiles({ calls, endpoints, store }: FilesParts): GoogleFiles {
  return {
    async listSpreadsheets(credentialId, search = '', pageToken) {
      const credential = await store.findCredential(credentialId)
      const scopes = credential?.scopes.split(' ') ?? []
      if (!scopesThatList.some((scope) => scopes.includes(scopeUrl(scope)))) return 'not_allowed'
      const asked = new URLSearchParams({
        q: queryFor(search),
        orderBy: 'modifiedTime desc',
        pageSize: String(pageSize),
        fields: 'nextPageToken,files(id,name,modifiedTime)',
        supportsAllDrives: 'true',
        includeItemsFromAllDrives: 'true',
        ...(pageToken === undefined ? {} : { pageToken }),
      })
      const answer = await ask('drive', credentialId, `${endpoints.drive}/files?${asked}`).catch(
        (error: unknown) => {
          // For one person with a service account the Sheets API does; and a link needs no list.
          if (error instanceof ApiSwitchedOff && isServiceAccount(credential?.subject ?? null)) return null
          throw error
        },
      )
      if (answer === null) return 'not_allowed'
      return {
        spreadsheets: listOf(answer.files).map((file) => {
          const { id, name, modifiedTime } = fieldsOf(file)
          const modifiedAtMs = Date.parse(textOf(modifiedTime) ?? '')
          return {
            spreadsheetId: mustHaveText(textOf(id)),
            title: mustHaveText(textOf(name)),
            modifiedAtMs: modifiedAtMs || 0,
          }
        }),
        nextPageToken: textOf(answer.nextPageToken),
      }
    },

    async listTabs(credentialId, spreadsheetId, accountId) {
      const wanted = new URLSearchParams({
        fields:
          'properties.title,sheets.properties(sheetId,title,sheetType,hidden,gridProperties(rowCount,columnCount))',
        prettyPrint: 'false',
      })
      const url = `${endpoints.sheets}/${encodeURIComponent(spreadsheetId)}?${wanted}`
      const answer = await ask('sheets', credentialId, url, accountId).catch((error: unknown) => {
        throw isTooLarge(error) ? tooManyTabs(error) : error
      })
      return {
        title: mustHaveText(textOf(fieldsOf(answer.properties).title)),
        tabs: listOf(answer.sheets)
          .map((sheet) => fieldsOf(fieldsOf(sheet).properties))
          .filter(({ sheetType }) => sheetType === undefined || sheetType === 'GRID')
          .map(tabOf),
      }
    },
  }

  async function ask(service: GoogleService, credentialId: string | null, url: string, accountId?: string) {
    const onBody = () => boundPieces(mostListedBytes)
    const body = await calls.callRead({ credentialId, accountId, method: 'GET', url, service, onBody })
    const parsed = parseJsonBytes(body)
    if (parsed === undefined) throw unreadable()
    return fieldsOf(parsed)
  }
}

function queryFor(search: string): string {
  const all = "mimeType = 'application/vnd.google-apps.spreadsheet' and trashed = false"
  const words = search.trim()
  return words === '' ? all : `${all} and name contains '${words.replace(/['\\]/g, '\\$&')}'`
}

function tabOf({ sheetId, title, hidden, gridProperties }: Record<string, unknown>): SpreadsheetTab {
  const { rowCount, columnCount } = fieldsOf(gridProperties)
  return {
    // Left out when it is 0, as every default is where an answer is cut down to fields.
    tabId: typeof sheetId === 'number' ? sheetId : 0,
    title: mustHaveText(textOf(title)),
    rows: typeof rowCount === 'number' ? rowCount : 0,
    columns: typeof columnCount === 'number' ? columnCount : 0,
    isHidden: hidden === true,
  }
}

function tooManyTabs(cause: unknown): ProviderFailure {
  return new ProviderFailure('the spreadsheet has more tabs than can be listed', {
    details: 'Move the tab that is to be connected to a spreadsheet of its own.',
    cause,
  })
}

function mustHaveText(text: string | null): string {
  if (text === null) throw unreadable()
  return text
}
