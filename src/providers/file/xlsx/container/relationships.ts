import { MAX_DIRECTORY_PART_BYTES } from './limits.ts'
import { readXmlPart } from './part.ts'
import type { ZipArchive } from './zip.ts'

export interface Relationship {
  id: string
  /** The last word of the type's address, which transitional and strict OOXML share. */
  type: string
  path: string
}

/** The relationships of a part, or of the package (`''`) itself; none where the file names none. */
export async function readRelationships(archive: ZipArchive, part: string): Promise<Relationship[]> {
  const slash = part.lastIndexOf('/') + 1
  const folder = part.slice(0, slash)
  const path = `${folder}_rels/${part.slice(slash)}.rels`
  const relationships: Relationship[] = []
  if (!archive.has(path)) return relationships
  await readXmlPart(archive, path, MAX_DIRECTORY_PART_BYTES, {
    open(name, depth, attributes) {
      if (depth !== 2 || name !== 'Relationship' || attributes.get('TargetMode') === 'External') return
      const type = attributes.get('Type') ?? ''
      relationships.push({
        id: attributes.get('Id') ?? '',
        type: type.slice(type.lastIndexOf('/') + 1),
        path: resolvePath(folder, attributes.get('Target') ?? ''),
      })
    },
  })
  return relationships
}

function resolvePath(folder: string, target: string): string {
  const segments: string[] = []
  for (const segment of (target.startsWith('/') ? target : folder + target).split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '.' && segment !== '') segments.push(segment)
  }
  return segments.join('/')
}
