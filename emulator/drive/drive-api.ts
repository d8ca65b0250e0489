import type { Caller, GoogleAnswer, GoogleCall } from '../google-api.ts'
import { DriveError, driveErrorAnswer, fileNotFound } from './drive-error.ts'
import { userJson } from './file-json.ts'
import { accessOf, type DriveFile, type FileStore, isWithinReach } from './file-store.ts'
import { copyFile, createFile, deleteFile, exportFile, getFile, updateFile } from './files.ts'
import { listFiles } from './list-files.ts'
import { permissionsApi } from './permissions.ts'
import { shaped } from './shape-answer.ts'

/** Drive v3 as far as clients of spreadsheets use it. */
export function driveApi(store: FileStore, call: GoogleCall): GoogleAnswer {
  try {
    return route(store, call)
  } catch (error) {
    if (error instanceof DriveError) return driveErrorAnswer(error)
    throw error
  }
}

function route(store: FileStore, call: GoogleCall): GoogleAnswer {
  const [collection, id, action, ...rest] = call.path
    .replace(/^\/drive\/v3\//, '')
    .split('/')
    .map(decodeURIComponent)
  const { method } = call
  if (collection === 'about' && id === undefined && method === 'GET') return about(call)
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
  if (action === 'permissions') return permissionsApi(store, file, call, rest[0])
  throw new DriveError(404, 'notFound', 'Not Found')
}

/** Whose token it is; the one method here that has no fields of its own accord. */
function about(call: GoogleCall): GoogleAnswer {
  if (!call.query.get('fields')) {
    const message = "The 'fields' parameter is required for this method."
    throw new DriveError(400, 'required', message, 'fields')
  }
  return shaped(call, { kind: 'drive#about', user: userJson(call.user, call.user) }, '*')
}

/** To those without any access a file does not exist. */
function visibleFile(store: FileStore, id: string, caller: Caller): DriveFile {
  const file = store.find(id)
  if (!file || accessOf(file, caller.user) === 'none' || !isWithinReach(file, caller)) throw fileNotFound(id)
  return file
}
