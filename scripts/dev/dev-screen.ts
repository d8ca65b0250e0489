export interface DevScreen {
  version: string
  signInUrl: string
  baseUrl: string
  apiKey: string
  account: string
  googleUrl: string
  /** Of the spreadsheet that becomes `lamp-shop`. */
  spreadsheetId: string
  people: readonly string[]
  dataFolder: string
}

/** What a person sees who tries the whole thing out. */
export function devScreen(screen: DevScreen): string {
  const { version, signInUrl, baseUrl, apiKey, account, googleUrl, people, dataFolder } = screen
  const sheetUrl = `${baseUrl}/api/sheets/${account}/lamp-shop`
  const edit = {
    spreadsheetId: screen.spreadsheetId,
    tab: 'Products',
    op: 'set',
    row: 2,
    column: 'C',
    value: 65,
  }
  return `
  Rowport ${version} with a local Google emulator. Nothing here reaches the real Google.

  1  Open this link to sign in. It works once:
     ${signInUrl}
  2  Connect Google, choose a person and a spreadsheet, connect the sheet.
  3  Read your sheet (replace lamp-shop with its name):
     curl -H 'Authorization: Bearer ${apiKey}' ${sheetUrl}
  4  Follow its changes, and leave that running:
     curl -N -H 'Accept: text/event-stream' -H 'Authorization: Bearer ${apiKey}' ${sheetUrl}/changes
  5  Edit a cell at the local Google, as a person would. The change arrives within 15 seconds:
     curl ${googleUrl}/_control/edit -d '${JSON.stringify(edit)}'

  Google         ${googleUrl}/  with ${people.join(' and ')}
  Data           ${dataFolder}

  Press Ctrl+C to stop. All data is discarded.

`
}
