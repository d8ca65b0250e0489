import type { Site } from '../site.ts'
import { type DocPage, operatorsGroup } from './library.ts'

/** Stands in the address of every link between pages, where the reader's choice goes. */
export const choiceMark = '\u{e000}'

/** Whose addresses stand in the examples; those of the sample for a reader who is not signed in. */
export interface Reader {
  isSignedIn: boolean
  accountSlug: string
  sheetSlug: string
  sheetId: string
  /** All that can be chosen. */
  sheetSlugs: readonly string[]
}

export const stranger: Reader = {
  isSignedIn: false,
  accountSlug: 'demo',
  sheetSlug: 'products',
  sheetId: 'SHEET_ID',
  sheetSlugs: [],
}

/** The sheet that was chosen goes along from page to page. */
export function choiceOf({ sheetSlugs, sheetSlug }: Reader): string {
  return sheetSlugs.length > 1 ? `?sheet=${encodeURIComponent(sheetSlug)}` : ''
}

/**
 * The addresses that the docs are written with are those of a fresh start on one's own machine. `text`: the Markdown of the page, or
 * the HTML that was made of it once for all readers.
 */
export function addressDocsTo(
  { group }: DocPage,
  text: string,
  { accountSlug, sheetSlug, sheetId }: Reader,
  { baseUrl }: Site,
): string {
  if (group === operatorsGroup) return text
  return text
    .replaceAll('http://localhost:8787', baseUrl)
    .replaceAll('https://…/', `${baseUrl}/`)
    .replaceAll('demo/products', `${accountSlug}/${sheetSlug}`)
    .replaceAll('/api/sheets/demo/', `/api/sheets/${accountSlug}/`)
    .replaceAll('key create demo', `key create ${accountSlug}`)
    .replaceAll('sheet connect demo/', `sheet connect ${accountSlug}/`)
    .replaceAll('form create demo/', `form create ${accountSlug}/`)
    .replaceAll('--sheet products', `--sheet ${sheetSlug}`)
    .replaceAll('SHEET_ID', sheetId)
}
