/** Slugs stand in URLs: lower-case letters, digits and single hyphens, at most 63. The app imports this, so it imports nothing. */
const shape = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const maxLength = 63

export function problemWithSlug(slug: string): string | null {
  if (shape.test(slug) && slug.length <= maxLength) return null
  if (slug === '') return 'enter a name'
  return `use lowercase letters, numbers and single hyphens (${maxLength} characters max); try "${suggestSlug(slug, new Set())}"`
}

/** A slug like `title`, as far as its letters can stand in an address; the first of its kind that is not `taken`. */
export function suggestSlug(title: string, taken: ReadonlySet<string>): string {
  const plain = title
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
  const base = trimHyphens(plain).slice(0, maxLength) || 'sheet'
  for (let copy = 1; ; copy++) {
    const end = copy === 1 ? '' : `-${copy}`
    const slug = trimHyphens(base.slice(0, maxLength - end.length)) + end
    if (!taken.has(slug)) return slug
  }
}

function trimHyphens(slug: string): string {
  return slug.replaceAll(/^-+|-+$/g, '')
}
