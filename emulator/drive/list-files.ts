import type { GoogleAnswer, GoogleCall } from '../google-api.ts'
import { parseQuery } from './drive-query.ts'
import { fileJson } from './file-json.ts'
import { type DriveFile, type FileStore, isListedFor, isWithinReach } from './file-store.ts'
import { pageOf } from './pages.ts'
import { shaped } from './shape-answer.ts'

const USUAL_LIST = 'kind,nextPageToken,incompleteSearch,files(kind,id,name,mimeType)'

export function listFiles(store: FileStore, call: GoogleCall): GoogleAnswer {
  const query = call.query.get('q') ?? ''
  const matches = query.trim() === '' ? () => true : parseQuery(query)
  const found = store
    .all()
    .filter((file) => isListedFor(file, call.user) && isWithinReach(file, call) && matches(file))
  const ordered = inOrder(found, call.query.get('orderBy') ?? '')
  const { page, nextPageToken } = pageOf(ordered, call.query, { usual: 100, longest: 1000 })
  const body = {
    kind: 'drive#fileList',
    ...(nextPageToken !== undefined && { nextPageToken }),
    incompleteSearch: false,
    files: page.map((file) => fileJson(file, call)),
  }
  return shaped(call, body, USUAL_LIST)
}

function inOrder(files: DriveFile[], orderBy: string): DriveFile[] {
  const keys = orderBy.split(',').map((part) => part.trim().split(/\s+/))
  return files.toSorted((one, other) => {
    for (const [name, direction] of keys) {
      const verdict = compareBy(name ?? '', one, other)
      if (verdict !== 0) return direction === 'desc' ? -verdict : verdict
    }
    return 0
  })
}

function compareBy(name: string, one: DriveFile, other: DriveFile): number {
  if (name === 'createdTime') return one.createdMs - other.createdMs
  if (name.startsWith('modified')) return one.modifiedMs - other.modifiedMs
  if (name === 'name' || name === 'name_natural') return one.name.localeCompare(other.name)
  return 0
}
