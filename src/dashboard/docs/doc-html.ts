import type { Site } from '../site.ts'
import { type DocPage, groupPages } from './library.ts'
import { escapeHtml, type RenderedPage } from './markdown.ts'
import { choiceMark, choiceOf, type Reader } from './reader.ts'

export const stylePath = '/docs/style.css'
export const scriptPath = '/docs/script.js'
export const listPath = '/llms.txt'

/** Short pages are seen at a glance. */
const listedFromSections = 4

/** `page`: null for the first one. */
export function htmlOf(
  { title, html, sections }: RenderedPage,
  page: DocPage | null,
  pages: readonly DocPage[],
  reader: Reader,
  { basePath }: Site,
): string {
  const query = choiceOf(reader)
  const here = `/docs${page ? `/${page.name}` : ''}`
  const inPage =
    sections.length < listedFromSections
      ? ''
      : `<ul>${sections.map(({ id, words }) => `<li><a href="#${id}">${escapeHtml(words)}</a></li>`).join('')}</ul>`
  const groups = groupPages(pages).map(([group, inGroup]) => {
    const links = inGroup.map((each) => {
      const address = `${basePath}/docs/${each.name}${query}`
      return each === page
        ? `<li><a href="${address}" aria-current="page">${escapeHtml(each.title)}</a>${inPage}</li>`
        : `<li><a href="${address}">${escapeHtml(each.title)}</a></li>`
    })
    return `<h2>${group}</h2><ul>${links.join('')}</ul>`
  })
  const navigation = groups.join('')
  const signIn = `${basePath}/sign-in?next=${encodeURIComponent(here)}`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${escapeHtml(page ? `${title} · Docs` : title)} · Rowport</title>
<link rel="icon" type="image/svg+xml" href="${basePath}/icon.svg"><link rel="stylesheet" href="${basePath}${stylePath}">
<script src="${basePath}${scriptPath}"></script></head>
<body><a class="skip" href="#content">Skip to content</a>
<header><a class="home" href="${basePath}/"><img src="${basePath}/icon.svg" alt="" width="26" height="26">Rowport</a>
<a href="${basePath}/docs${query}"${page ? '' : ' aria-current="page"'}>Docs</a>
${reader.isSignedIn ? `<a href="${basePath}/">Dashboard</a>` : `<a href="${signIn}">Sign in</a>`}${chooserOf(reader)}</header>
<div class="page"><details class="pages"><summary>All pages</summary><nav aria-label="Docs, all pages">${navigation}</nav></details>
<nav class="aside" aria-label="Docs">${navigation}</nav>
<main id="content">${html.replaceAll(choiceMark, query)}
<footer>${reader.isSignedIn ? 'The examples use your own URLs.' : `<a href="${signIn}">Sign in</a> to see your own URLs in the examples.`}
For programs: <a href="${basePath}${here}.md">this page as Markdown</a>, <a href="${basePath}${listPath}">all pages</a>.</footer>
</main></div></body></html>
`
}

/**
 * Links are written as they hold in the repository; null for those that lead to what is not served. One whose words are the name of a
 * file is called by the title of its page.
 */
export function linkFrom(
  from: string,
  target: string,
  pages: readonly DocPage[],
  { basePath }: Site,
): { address: string; title: string | null } | null {
  if (/^https?:\/\//.test(target) || target.startsWith('#')) return { address: target, title: null }
  if (target.startsWith('/')) return { address: basePath + target, title: null }
  const { pathname, hash } = new URL(target, `http://docs/docs/${from}`)
  const name = pathname.replace(/^\/docs\//, '').replace(/\.md$/, '')
  const page = pages.find((each) => each.name === name)
  if (!page) return null
  return { address: `${basePath}/docs/${name}${choiceMark}${hash}`, title: page.title }
}

function chooserOf({ sheetSlugs, sheetSlug }: Reader): string {
  if (sheetSlugs.length < 2) return ''
  const options = sheetSlugs.map(
    (slug) => `<option${slug === sheetSlug ? ' selected' : ''}>${escapeHtml(slug)}</option>`,
  )
  return `<form><label for="sheet">Sheet in the examples</label><select id="sheet" name="sheet">${options.join('')}</select><noscript><button>Show</button></noscript></form>`
}
