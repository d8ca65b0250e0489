import type { GoogleAnswer, GoogleCall } from '../google-api.ts'
import { invalidParameter } from './drive-error.ts'
import { parseQuery } from './drive-query.ts'
import { fileJson } from './file-json.ts'
import { accessOf, type DriveFile, type FileStore, isWithinReach } from './file-store.ts'
import { shaped } from './shape-answer.ts'

const USUAL_LIST = 'kind,nextPageToken,incompleteSearch,files(kind,id,name,mimeType)'

export function listFiles(store: FileStore, call: GoogleCall): GoogleAnswer {
  const query = call.query.get('q') ?? ''
  const matches = query.trim() === '' ? () => true : parseQuery(query)
  const found = store
    .all()
    .filter((file) => accessOf(file, call.user) !== 'none' && isWithinReach(file, call) && matches(file))
  const ordered = inOrder(found, call.query.get('orderBy') ?? '')
  const size = pageSize(call.query.get('pageSize'))
  const start = pageStart(call.query.get('pageToken'))
  const page = ordered.slice(start, start + size)
  const more = start + size < ordered.length
  const body = {
    kind: 'drive#fileList',
    ...(more && { nextPageToken: Buffer.from(`page:${start + size}`).toString('base64url') }),
    incompleteSearch: false,
    files: page.map((file) => fileJson(file, call)),
  }
  return shaped(call, body, USUAL_LIST)
}

function pageSize(text: string | null): number {
  if (text === null) return 100
  const size = Number(text)
  if (!Number.isInteger(size) || size < 1 || size > 1000) {
    throw invalidParameter('pageSize', `Invalid value '${text}'. Values must be within the range: [1, 1000]`)
  }
  return size
}

function pageStart(token: string | null): number {
  if (!token) return 0
  const match = /^page:(\d+)$/.exec(Buffer.from(token, 'base64url').toString())
  if (!match) throw invalidParameter('pageToken')
  return Number(match[1])
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
