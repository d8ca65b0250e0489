import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderMarkdown } from './markdown.ts'

/** A page of the docs, as it lies in the folder. */
export interface DocPage {
  /** Below `/docs/`, without an ending. */
  name: string
  group: string
  text: string
  title: string
  /** Its first sentence, as plain text. */
  summary: string
}

/** For whoever runs a server: what stands there is not about the sheets of a reader. */
export const operatorsGroup = 'Self-hosting'

/** In the order in which they are shown; what is about the inside of Rowport stays in the repository. */
const shelves: Record<string, readonly string[]> = {
  Quickstarts: ['html', 'react', 'astro', 'python', 'n8n', 'excel'].map((name) => `quickstarts/${name}`),
  Recipes: ['product-list', 'contact-form', 'nightly-sync', 'small-app', 'agent', 'change-notices'].map(
    (name) => `recipes/${name}`,
  ),
  Reference: ['api', 'forms', 'agents', 'webhooks', 'errors', 'contract'],
  [operatorsGroup]: ['operating', 'google-setup', 'reliability'],
}

/** Read once: they come with the program and do not change while it runs. */
export function readLibrary(folder: string): DocPage[] {
  return Object.entries(shelves).flatMap(([group, names]) =>
    names.map((name) => {
      const text = readFileSync(join(folder, `${name}.md`), 'utf8')
      const { title, summary } = renderMarkdown(text, () => null)
      return { name, group, text, title, summary }
    }),
  )
}

export function groupPages(pages: readonly DocPage[]): [group: string, pages: readonly DocPage[]][] {
  return [...Map.groupBy(pages, ({ group }) => group)]
}
