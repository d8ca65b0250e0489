/** What our own pages are written in, and nothing more: headings, paragraphs, lists, tables, fenced code, links. */
export interface RenderedPage {
  title: string
  html: string
  /** The first sentence, as plain text. */
  summary: string
  /** Its headings of the second level. */
  sections: { id: string; words: string }[]
}

/** Where a link leads on this server, and what is there. */
export interface LinkTarget {
  address: string
  title: string | null
}

/** `linkTo`: null where the text alone is shown. */
export function renderMarkdown(text: string, linkTo: (target: string) => LinkTarget | null): RenderedPage {
  const lines = text.split('\n')
  const html: string[] = []
  let title = ''
  let summary = ''
  const sections: RenderedPage['sections'] = []
  let at = 0
  while (at < lines.length) {
    const line = lines[at] ?? ''
    const heading = /^(#{1,4}) (.*)$/.exec(line)
    if (line.trim() === '') at++
    else if (line.startsWith('```')) html.push(codeBlock())
    else if (heading) {
      at++
      const [, marks = '', words = ''] = heading
      if (marks.length === 1 && title === '') title = plainText(words)
      const id = headingId(words)
      if (marks.length === 2) sections.push({ id, words: plainText(words) })
      html.push(`<h${marks.length} id="${id}">${inline(words)}</h${marks.length}>`)
    } else if (line.startsWith('|')) html.push(table())
    else if (listItem.test(line)) html.push(list())
    else html.push(paragraph())
  }
  return { title, html: html.join('\n'), summary, sections }

  function codeBlock(): string {
    const language = /^```(\w*)/.exec(lines[at] ?? '')?.[1] ?? ''
    const code: string[] = []
    for (at++; at < lines.length && !lines[at]?.startsWith('```'); at++) code.push(lines[at] ?? '')
    at++
    const label = language === '' ? '' : ` aria-label="${language}"`
    return `<pre tabindex="0" role="region"${label || ' aria-label="Code"'}><code>${escapeHtml(code.join('\n'))}\n</code></pre>`
  }

  function table(): string {
    const rows: string[][] = []
    for (; lines[at]?.startsWith('|'); at++) rows.push(cellsIn(lines[at] ?? ''))
    const [head = [], , ...body] = rows
    const isHeaded = head.some((cell) => cell !== '')
    const row = (cells: readonly string[], tag: string) =>
      `<tr>${cells.map((cell) => `<${tag}>${inline(cell)}</${tag}>`).join('')}</tr>`
    const top = isHeaded ? `<thead>${row(head, 'th')}</thead>` : ''
    return `<div class="wide" tabindex="0" role="region" aria-label="Table"><table>${top}<tbody>${body.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>`
  }

  function list(): string {
    const number = /^\d+/.exec(lines[at] ?? '')?.[0]
    const items: string[] = []
    while (at < lines.length && listItem.test(lines[at] ?? '')) {
      const words = [(lines[at] ?? '').replace(listItem, '')]
      for (at++; at < lines.length && /^\s{2,}\S/.test(lines[at] ?? ''); at++)
        words.push((lines[at] ?? '').trim())
      items.push(`<li>${inline(words.join(' '))}</li>`)
    }
    if (number === undefined) return `<ul>${items.join('')}</ul>`
    // A block of code between two steps does not begin to count anew.
    return `<ol${number === '1' ? '' : ` start="${number}"`}>${items.join('')}</ol>`
  }

  function paragraph(): string {
    const words: string[] = []
    for (; at < lines.length && isPlain(lines[at] ?? ''); at++) words.push((lines[at] ?? '').trim())
    const whole = words.join(' ')
    if (summary === '') summary = firstSentence(plainText(whole))
    return `<p>${inline(whole)}</p>`
  }

  /** Code first, so that nothing in it is taken for a mark. */
  function inline(words: string): string {
    return words
      .split(/(`[^`]+`)/)
      .map((part) =>
        part.startsWith('`') && part.length > 2
          ? `<code>${codeText(part.slice(1, -1))}</code>`
          : formatInline(part),
      )
      .join('')
      .replaceAll(/\*\*(.+?)\*\*/g, '<strong>$1</strong>')
      .replaceAll(linkMark, (_, label: string, target: string) => {
        const link = linkTo(target.replaceAll('&amp;', '&'))
        if (link === null) return label
        // The name of a file says something in the repository alone.
        const words = link.title !== null && /^[\w-]+\.md$/.test(label) ? escapeHtml(link.title) : label
        return `<a href="${escapeHtml(link.address)}">${words}</a>`
      })
  }
}

const listItem = /^(?:- |\d+\. )/
/** Its label may hold code that was made already. */
const linkMark = /\[([^\]]*)\]\(([^)\s]+)\)/g

function isPlain(line: string): boolean {
  return line.trim() !== '' && !/^(?:#{1,4} |```|\|)/.test(line) && !listItem.test(line)
}

/** A star in code is no mark. */
function codeText(code: string): string {
  return escapeHtml(code).replaceAll('*', '&#42;')
}

function formatInline(text: string): string {
  return escapeHtml(text)
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/&lt;(https?:\/\/\S+?)&gt;/g, '[$1]($1)')
    .replaceAll(/(^|[\s(])\*([^*\s][^*]*)\*(?!\*)/g, '$1<em>$2</em>')
}

function cellsIn(line: string): string[] {
  return line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split(/(?<!\\)\|(?=(?:[^`]*`[^`]*`)*[^`]*$)/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** As GitHub makes them, so that links within the docs hold in both places. */
function headingId(words: string): string {
  return plainText(words)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

function plainText(words: string): string {
  return words
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/<(https?:[^>\s]+)>/g, '$1')
}

function firstSentence(text: string): string {
  return /^.+?\.(?=\s+[A-Z])/.exec(text)?.[0] ?? text
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Markdown in which links to what this server does not have are their words alone, as on the pages made of it. */
export function withServedLinks(text: string, isServed: (target: string) => boolean): string {
  return text.replaceAll(/\[([^\][]+)\]\(([^()\s]+)\)/g, (link, words: string, target: string) =>
    isServed(target) ? link : words,
  )
}
