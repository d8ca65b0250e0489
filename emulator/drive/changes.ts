import type { GoogleAnswer, GoogleCall } from '../google-api.ts'
import { DriveError, invalidParameter } from './drive-error.ts'
import { fileJson } from './file-json.ts'
import { accessOf, type FileStore, isWithinReach } from './file-store.ts'
import { USUAL_FIELDS } from './files.ts'
import { pageSize } from './pages.ts'
import { shaped } from './shape-answer.ts'

const USUAL_LIST = `kind,nextPageToken,newStartPageToken,changes(kind,changeType,type,time,removed,fileId,file(${USUAL_FIELDS}))`

/** `changes` and `changes/startPageToken`. A token is the number of the first change that it leaves to be told. */
export function changesApi(store: FileStore, call: GoogleCall, action: string | undefined): GoogleAnswer {
  if (call.method !== 'GET') throw new DriveError(404, 'notFound', 'Not Found')
  const newest = String(store.lastChange + 1)
  if (action === 'startPageToken') {
    return shaped(call, { kind: 'drive#startPageToken', startPageToken: newest }, '*')
  }
  if (action !== undefined) throw new DriveError(404, 'notFound', 'Not Found')
  const token = call.query.get('pageToken')
  if (token === null) {
    throw new DriveError(400, 'required', 'Required parameter: pageToken', 'pageToken')
  }
  if (!/^\d{1,15}$/.test(token)) throw invalidParameter('pageToken')
  const seen = store
    .changesFrom(Number(token))
    .filter(({ file }) => accessOf(file, call.user) !== 'none' && isWithinReach(file, call))
  const page = seen.slice(0, pageSize(call.query.get('pageSize'), 100, 1000))
  const next = seen[page.length]
  const body = {
    kind: 'drive#changeList',
    ...(next ? { nextPageToken: String(next.number) } : { newStartPageToken: newest }),
    changes: page.map(({ file, timeMs, isRemoved }) => ({
      kind: 'drive#change',
      changeType: 'file',
      type: 'file',
      time: new Date(timeMs).toISOString(),
      removed: isRemoved,
      fileId: file.id,
      ...(!isRemoved && { file: fileJson(file, call) }),
    })),
  }
  return shaped(call, body, USUAL_LIST)
}
