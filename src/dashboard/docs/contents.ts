import type { Site } from '../site.ts'
import { type DocPage, groupPages } from './library.ts'
import type { Reader } from './reader.ts'

/** llmstxt.org: a title, a sentence, and where to read what. */
export function listOf(pages: readonly DocPage[], { baseUrl }: Site): string {
  const groups = groupPages(pages).map(([group, inGroup]) => {
    const lines = inGroup.map(
      ({ name, title, summary }) => `- [${title}](${baseUrl}/docs/${name}.md): ${summary}`,
    )
    return `## ${group}\n\n${lines.join('\n')}\n`
  })
  return `# Rowport

> A spreadsheet behind a JSON API. This server: ${baseUrl}

OpenAPI of the whole API: ${baseUrl}/openapi.json. Each sheet describes itself, at its URL plus /openapi.json or /schema.

${groups.join('\n')}`
}

/** The first page. */
export function contentsOf(pages: readonly DocPage[], reader: Reader, { baseUrl }: Site): string {
  const address = `${baseUrl}/api/sheets/${reader.accountSlug}/${reader.sheetSlug}`
  const groups = groupPages(pages).map(([group, inGroup]) => {
    const lines = inGroup.map(({ name, title, summary }) => `- [${title}](${name}.md): ${summary}`)
    return `## ${group}\n\n${lines.join('\n')}\n`
  })
  return `# Docs

Every sheet has a URL that returns its rows as JSON. Send ${reader.isSignedIn ? 'an [API key](/keys)' : 'an API key'} and read it:

\`\`\`sh
curl -H 'Authorization: Bearer YOUR_API_KEY' \\
  '${address}?limit=10'
\`\`\`

${groups.join('\n')}
## For programs

- OpenAPI of this sheet: \`${address}/openapi.json\`
- JSON Schema of its rows: \`${address}/schema\`
- OpenAPI of the whole API: \`${baseUrl}/openapi.json\`
- These pages as Markdown: add \`.md\` to a URL. A list of all: \`${baseUrl}/llms.txt\`
`
}
