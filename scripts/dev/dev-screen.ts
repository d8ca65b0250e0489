export interface DevScreen {
  version: string
  signInUrl: string
  baseUrl: string
  apiKey: string
  account: string
  googleUrl: string
  people: readonly string[]
  dataFolder: string
}

/** What a person sees who tries the whole thing out. */
export function devScreen(screen: DevScreen): string {
  const { version, signInUrl, baseUrl, apiKey, account, googleUrl, people, dataFolder } = screen
  return `
  Rowport ${version} with a local Google emulator. Nothing here reaches the real Google.

  1  Open this link to sign in. It works once:
     ${signInUrl}
  2  Connect Google, choose a person and a spreadsheet, connect the sheet.
  3  Read your sheet (replace lamp-shop with its name):
     curl -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/api/sheets/${account}/lamp-shop

  Google         ${googleUrl}/  with ${people.join(' and ')}
  Data           ${dataFolder}

  Press Ctrl+C to stop. All data is discarded.

`
}
