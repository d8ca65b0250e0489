import type { Caller } from '../google-api.ts'
import { accessOf, type DriveFile, isWithinReach, type Permission, permissionId } from './file-store.ts'

/** The File resource with everything the emulator knows; the fields mask picks from it. */
export function fileJson(file: DriveFile, caller: Caller): Record<string, unknown> {
  const { user } = caller
  const canEdit = accessOf(file, user) === 'write'
  return {
    kind: 'drive#file',
    id: file.id,
    name: file.name,
    mimeType: file.mimeType,
    ...(file.description !== undefined && { description: file.description }),
    starred: false,
    trashed: file.trashed,
    explicitlyTrashed: file.trashed,
    parents: file.parents,
    spaces: ['drive'],
    version: String(file.version),
    webViewLink: `https://docs.google.com/spreadsheets/d/${file.id}/edit?usp=drivesdk`,
    createdTime: new Date(file.createdMs).toISOString(),
    modifiedTime: new Date(file.modifiedMs).toISOString(),
    owners: [userJson(file.owner, user)],
    lastModifyingUser: userJson(file.owner, user),
    shared: file.permissions.length > 1,
    ownedByMe: file.owner === user,
    capabilities: { canEdit, canCopy: true, canDelete: file.owner === user, canShare: canEdit },
    permissions: file.permissions.map(permissionJson),
    permissionIds: file.permissions.map((permission) => permission.id),
    isAppAuthorized: isWithinReach(file, { ...caller, onlyPicked: true }),
    writersCanShare: true,
  }
}

export function userJson(address: string, user: string): Record<string, unknown> {
  return {
    kind: 'drive#user',
    displayName: address.split('@')[0],
    me: address === user,
    permissionId: permissionId(address),
    emailAddress: address,
  }
}

export function permissionJson(permission: Permission): Record<string, unknown> {
  const { id, type, role, emailAddress, domain } = permission
  return {
    kind: 'drive#permission',
    id,
    type,
    ...(emailAddress !== undefined && { emailAddress, displayName: emailAddress.split('@')[0] }),
    ...(domain !== undefined && { domain, displayName: domain }),
    role,
    ...(type === 'user' && { deleted: false, pendingOwner: false }),
    ...(type === 'anyone' && { allowFileDiscovery: false }),
  }
}
