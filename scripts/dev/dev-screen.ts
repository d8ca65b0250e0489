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
  Rowport ${version} and a Google of its own: nothing here reaches the real one.

  1  Open this link. It signs you in, once:
     ${signInUrl}
  2  Connect Google, choose a person and a spreadsheet, connect the sheet.
  3  Read it, with the name that you gave it:
     curl -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/api/sheets/${account}/lamp-shop

  Google         ${googleUrl}/  with ${people.join(' and ')}
  Data           ${dataFolder}

  Stop with Ctrl-C. All of it is forgotten then.

`
}
