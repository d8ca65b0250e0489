/** Slugs stand in addresses: lower-case letters, digits and single hyphens, at most 63. */
const shape = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const maxLength = 63

export function problemWithSlug(slug: string): string | null {
  if (shape.test(slug) && slug.length <= maxLength) return null
  return `"${slug}" cannot stand in an address: use a–z, 0–9 and hyphens between them, at most ${maxLength} characters`
}
