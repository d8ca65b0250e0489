const heading = '## Unreleased\n'

/** What was unreleased becomes the version's, and a new empty section stands above it; null where there is nothing to release. */
export function withVersion(changelog: string, version: string, day: string): string | null {
  const section = sectionOf(changelog, 'Unreleased')
  if (section === null || section.trim() === '') return null
  return changelog.replace(heading, `${heading}\n## ${version} (${day})\n`)
}

/** Without its heading. */
export function sectionOf(changelog: string, version: string): string | null {
  const sections = changelog.split(/^(?=## )/m)
  const found = sections.find(
    (section) => section.startsWith(`## ${version}\n`) || section.startsWith(`## ${version} (`),
  )
  return found === undefined ? null : `${found.slice(found.indexOf('\n') + 1).trim()}\n`
}
