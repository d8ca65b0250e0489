import { exportedIn } from '../api-method.ts'
import type { Caller, GoogleAnswer, GoogleCall } from '../google-api.ts'
import { changesApi } from './changes.ts'
import { commentsApi } from './comments.ts'
import { DriveError, driveErrorAnswer, fileNotFound } from './drive-error.ts'
import { userJson } from './file-json.ts'
import { accessOf, type DriveFile, type FileStore, isWithinReach } from './file-store.ts'
import { copyFile, createFile, deleteFile, downloadTab, exportFile, getFile, updateFile } from './files.ts'
import { listFiles } from './list-files.ts'
import { permissionsApi } from './permissions.ts'
import { shapedAsAsked } from './shape-answer.ts'
import { uploadInto, uploadNew } from './upload.ts'

/** Drive v3 as far as clients of spreadsheets use it, and the upload of v2. */
export function driveApi(store: FileStore, call: GoogleCall): GoogleAnswer {
  try {
    return route(store, call)
  } catch (error) {
    if (error instanceof DriveError) return driveErrorAnswer(error)
    throw error
  }
}

const uploadPath = /^\/upload\/drive\/v([23])\/files(?:\/([^/]+))?$/
const uploadMethods = { 2: 'PUT', 3: 'PATCH' }

function route(store: FileStore, call: GoogleCall): GoogleAnswer {
  if (call.path.startsWith('/upload/')) return upload(store, call)
  const exported = exportedIn(call.path)
  if (exported !== undefined && call.method === 'GET')
    return downloadTab(visibleFile(store, exported, call), call)
  const [collection, id, action, ...rest] = call.path
    .replace(/^\/drive\/v3\//, '')
    .split('/')
    .map(decodeURIComponent)
  const { method } = call
  if (collection === 'about' && id === undefined && method === 'GET') return about(call)
  if (collection === 'changes') return changesApi(store, call, id)
  if (collection !== 'files') throw new DriveError(404, 'notFound', 'Not Found')
  if (id === undefined) {
    if (method === 'POST') return createFile(store, call)
    if (method === 'GET') return listFiles(store, call)
    throw new DriveError(404, 'notFound', 'Not Found')
  }
  const file = visibleFile(store, id, call)
  if (action === undefined) {
    if (method === 'GET') return getFile(file, call)
    if (method === 'PATCH') return updateFile(store, file, call)
    if (method === 'DELETE') return deleteFile(store, file, call)
  }
  if (action === 'copy' && method === 'POST') return copyFile(store, file, call)
  if (action === 'export' && method === 'GET') return exportFile(file, call)
  if (action === 'comments') return commentsApi(store, file, call, rest)
  if (action === 'permissions') return permissionsApi(store, file, call, rest[0])
  throw new DriveError(404, 'notFound', 'Not Found')
}

function upload(store: FileStore, call: GoogleCall): GoogleAnswer {
  const [, number, id] = uploadPath.exec(call.path) ?? []
  const version = number === '2' || number === '3' ? number : null
  if (id === undefined && version === '3' && call.method === 'POST') return uploadNew(store, call)
  if (id === undefined || version === null || uploadMethods[version] !== call.method)
    throw new DriveError(404, 'notFound', 'Not Found')
  return uploadInto(store, visibleFile(store, decodeURIComponent(id), call), call, version)
}

/** Whose token it is. */
function about(call: GoogleCall): GoogleAnswer {
  return shapedAsAsked(call, { kind: 'drive#about', user: userJson(call.user, call.user) })
}

/** To those without any access a file does not exist. */
function visibleFile(store: FileStore, id: string, caller: Caller): DriveFile {
  const file = store.find(id)
  if (!file || accessOf(file, caller.user) === 'none' || !isWithinReach(file, caller)) throw fileNotFound(id)
  return file
}
