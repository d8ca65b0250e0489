import { sampleAccount, sampleSheet } from './sample.ts'

export interface FirstScreen {
  version: string
  baseUrl: string
  /** The sample sheet's file; null when there is no sample. */
  sampleFile: string | null
  /** Only at the very first start: it was made now and is never shown again. */
  apiKey: string | null
  /** Beside it: opens the dashboard once. */
  signInUrl: string | null
  /** How the operator's commands begin, so that they find this server's data from another terminal. */
  rowport: string
}

/** What a person sees in the terminal when the server is up. */
export function firstScreen({
  version,
  baseUrl,
  sampleFile,
  apiKey,
  signInUrl,
  rowport,
}: FirstScreen): string {
  const sheetUrl = `${baseUrl}/api/sheets/${sampleAccount}/${sampleSheet}`
  const sample = sampleFile ? [`  Sample sheet   ${sheetUrl}`, `                 a file: ${sampleFile}`] : []
  const signIn = signInUrl
    ? [`  Sign in        ${signInUrl}`, '                 works once, expires in 15 minutes']
    : []
  const lines = [
    '',
    `  Rowport ${version} is running.`,
    '',
    `  Dashboard      ${baseUrl}/`,
    ...signIn,
    `  Docs           ${baseUrl}/docs`,
    ...sample,
  ]
  if (apiKey && sampleFile) {
    lines.push(
      `  API key        ${apiKey}`,
      '                 shown once, so save it now',
      '',
      '  Read the rows:',
      `    curl -H 'Authorization: Bearer ${apiKey}' ${sheetUrl}`,
      '  Add one:',
      `    curl -H 'Authorization: Bearer ${apiKey}' ${sheetUrl} \\`,
      `      -d '{"name": "Floor lamp", "category": "Lighting", "price": 89, "in_stock": true}'`,
      '',
      `  Next: change a price in ${sampleFile} and read again,`,
      '        or sign in and connect your own spreadsheet.',
    )
  } else {
    const account = sampleFile ? sampleAccount : '<account>'
    lines.push(
      '',
      '  Keys are shown only once. To create another:',
      `    ${rowport} key create ${account} --name laptop --scope read-write`,
      '  To sign in without a password:',
      `    ${rowport} account link ${account}`,
    )
  }
  return `${lines.join('\n')}\n\n  Press Ctrl+C to stop.\n\n`
}
