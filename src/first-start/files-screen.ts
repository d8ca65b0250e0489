import { shellQuoted } from '../assemble/rowport-command.ts'
import { countOf } from '../plain-words.ts'
import { filesAccount, type ServedFiles } from './served-files.ts'

export interface FilesScreen extends ServedFiles {
  version: string
  baseUrl: string
  signInUrl: string | null
  /** How the operator's commands begin. */
  rowport: string
  /** How those begin that need no data of this server. */
  bareRowport: string
  /** Whether the store is gone when the server ends. */
  isTemporary: boolean
  /** As short as a path can be from where it was typed; what is none stays as it is. */
  shortPath(path: string): string
}

/** What a person sees who has typed `rowport serve stock.xlsx`. */
export function filesScreen(screen: FilesScreen): string {
  const {
    version,
    baseUrl,
    files,
    leftOut,
    apiKey,
    signInUrl,
    rowport,
    bareRowport,
    isTemporary,
    shortPath,
  } = screen
  const urlOf = (slug: string) => `${baseUrl}/api/sheets/${filesAccount}/${slug}`
  const [first] = files
  const lines = ['', `  Rowport ${version} serves ${countOf(files.length, 'sheet')}.`, '']
  for (const { slug, path, columns, rowCount } of files) {
    const found = `${countOf(rowCount, 'row')}, ${countOf(columns.length, 'column')}`
    lines.push(`  ${urlOf(slug)}`, `                 ${shortPath(path)}: ${found}`)
  }
  for (const { path, why } of leftOut) lines.push(`  Left out       ${shortPath(path)}: ${why}`)
  lines.push('', `  Dashboard      ${signInUrl ?? `${baseUrl}/`}`)
  if (signInUrl) lines.push('                 works once, expires in 15 minutes')
  lines.push(`  Docs           ${baseUrl}/docs`)
  if (apiKey && first) {
    const url = urlOf(first.slug)
    const bearer = `-H 'Authorization: Bearer ${apiKey}'`
    lines.push(
      `  API key        ${apiKey}`,
      '                 reads and writes; shown once',
      '',
      '  Read the rows:',
      `    curl ${bearer} ${url}`,
      '  Try a new row without writing it (it is written without "?dry_run=true"):',
      `    curl ${bearer} '${url}?dry_run=true' -d ${shellQuoted(JSON.stringify({ [first.columns[0] ?? '']: 'new' }))}`,
      '  The description for generators and agents:',
      `    curl ${bearer} ${url}/openapi.json`,
    )
    lines.push('  Its types for TypeScript:', `    ${bareRowport} types ${url} --key ${apiKey}`)
  } else {
    lines.push(
      '',
      '  Keys are shown only once. To create another:',
      `    ${rowport} key create ${filesAccount} --name laptop --scope read-write`,
    )
  }
  if (isTemporary) {
    lines.push(
      '',
      '  The key and the settings end with this server; the files stay. "--data <folder>" keeps them.',
    )
  }
  return `${lines.join('\n')}\n\n  Press Ctrl+C to stop.\n\n`
}
