import type { GoogleAnswer, GoogleCall } from '../google-api.ts'
import { isObject } from '../sheets/model.ts'
import { DriveError, invalidParameter } from './drive-error.ts'
import { permissionJson } from './file-json.ts'
import { type DriveFile, type FileStore, type Permission, permissionId } from './file-store.ts'
import { refuseReader } from './files.ts'
import { shaped } from './shape-answer.ts'

const USUAL = 'kind,id,type,role'
const ROLES = ['owner', 'organizer', 'fileOrganizer', 'writer', 'commenter', 'reader']

export function permissionsApi(
  store: FileStore,
  file: DriveFile,
  call: GoogleCall,
  id: string | undefined,
): GoogleAnswer {
  if (call.method !== 'GET') refuseReader(file, call.user)
  if (id === undefined) {
    if (call.method === 'POST') return createPermission(store, file, call)
    const permissions = file.permissions.map(permissionJson)
    return shaped(
      call,
      { kind: 'drive#permissionList', permissions },
      `kind,nextPageToken,permissions(${USUAL})`,
    )
  }
  const permission = file.permissions.find((one) => one.id === id)
  if (!permission) {
    throw new DriveError(404, 'notFound', `Permission not found: ${id}.`, 'permissionId')
  }
  if (call.method === 'DELETE') {
    if (permission.role === 'owner') {
      throw new DriveError(403, 'insufficientFilePermissions', 'The owner of a file cannot be removed.')
    }
    file.permissions = file.permissions.filter((one) => one !== permission)
    store.touch(file)
    return { status: 204, body: undefined }
  }
  if (call.method === 'PATCH') permission.role = readRole(call.body)
  return shaped(call, permissionJson(permission), USUAL)
}

function createPermission(store: FileStore, file: DriveFile, call: GoogleCall): GoogleAnswer {
  const given = isObject(call.body) ? call.body : {}
  const permission = readPermission(given)
  const role = readRole(given)
  if (role === 'owner') {
    if (call.query.get('transferOwnership')?.toLowerCase() !== 'true') {
      throw new DriveError(
        403,
        'forbidden',
        'The transferOwnership parameter must be enabled when the permission role is "owner".',
        'transferOwnership',
      )
    }
    for (const one of file.permissions) if (one.role === 'owner') one.role = 'writer'
    file.owner = permission.emailAddress ?? file.owner
  }
  file.permissions = [...file.permissions.filter((one) => one.id !== permission.id), { ...permission, role }]
  store.touch(file)
  return shaped(call, permissionJson({ ...permission, role }), USUAL)
}

function readPermission(given: Record<string, unknown>): Omit<Permission, 'role'> {
  const { type, emailAddress, domain } = given
  if (type === 'anyone') return { id: 'anyoneWithLink', type }
  if (type === 'domain' && typeof domain === 'string') return { id: `${permissionId(domain)}k`, type, domain }
  if ((type === 'user' || type === 'group') && typeof emailAddress === 'string') {
    return { id: permissionId(emailAddress), type, emailAddress }
  }
  throw invalidParameter('permission.type', 'The permission type field is required.')
}

function readRole(body: unknown): string {
  const role = isObject(body) ? body.role : undefined
  if (typeof role === 'string' && ROLES.includes(role)) return role
  throw invalidParameter('permission.role', 'The permission role field is required.')
}
