import type { Caller } from '../google-api.ts'
import type { Spreadsheet } from '../sheets/model.ts'

export const SPREADSHEET_MIME = 'application/vnd.google-apps.spreadsheet'

export interface Permission {
  id: string
  type: string
  role: string
  emailAddress?: string
  domain?: string
}

export interface FileComment {
  id: string
  author: string
  content: string
  anchor?: string
  createdMs: number
  modifiedMs: number
  deleted: boolean
  resolved: boolean
  /** The oldest first. */
  replies: CommentReply[]
}

export interface CommentReply {
  id: string
  author: string
  content?: string
  action?: 'resolve' | 'reopen' | undefined
  createdMs: number
  modifiedMs: number
  deleted: boolean
}

/** The last that happened to a file. */
export interface FileChange {
  number: number
  file: DriveFile
  timeMs: number
  isRemoved: boolean
}

/** A file in Drive; spreadsheets carry their content, anything else is only a name. */
export interface DriveFile {
  id: string
  name: string
  mimeType: string
  owner: string
  createdMs: number
  modifiedMs: number
  version: number
  trashed: boolean
  parents: string[]
  description?: string
  permissions: Permission[]
  comments: FileComment[]
  /** Who opened it with which app: `user project`, or the user alone for every app. */
  openedBy: Set<string>
  spreadsheet?: Spreadsheet
}

const ID_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

export class FileStore {
  readonly #files = new Map<string, DriveFile>()
  /** The oldest first. */
  readonly #changes = new Map<string, FileChange>()
  #lastChange = 0
  readonly #now: () => number
  readonly #random: () => number

  constructor(clock: { now(): number; random(): number }) {
    this.#now = clock.now
    this.#random = clock.random
  }

  now(): number {
    return this.#now()
  }

  get lastChange(): number {
    return this.#lastChange
  }

  changesFrom(number: number): FileChange[] {
    return [...this.#changes.values()].filter((change) => change.number >= number)
  }

  find(id: string): DriveFile | undefined {
    return this.#files.get(id)
  }

  /** Newest first, as Drive lists. */
  all(): DriveFile[] {
    return [...this.#files.values()].toReversed().toSorted((one, other) => other.modifiedMs - one.modifiedMs)
  }

  add(given: {
    id?: string
    name: string
    mimeType: string
    owner: string
    parents?: string[]
    openedBy: string[]
  }): DriveFile {
    const now = this.#now()
    const file: DriveFile = {
      id: given.id ?? this.newFileId(),
      name: given.name,
      mimeType: given.mimeType,
      owner: given.owner,
      createdMs: now,
      modifiedMs: now,
      version: 1,
      trashed: false,
      parents: given.parents ?? [`root-of-${given.owner}`],
      permissions: [
        { id: permissionId(given.owner), type: 'user', role: 'owner', emailAddress: given.owner },
      ],
      comments: [],
      openedBy: new Set(given.openedBy),
    }
    this.#files.set(file.id, file)
    this.#note(file)
    return file
  }

  /** The only way content changes: the draft replaces what was there, whole. */
  commit(file: DriveFile, draft: Spreadsheet): void {
    file.spreadsheet = draft
    file.name = String(draft.properties.title ?? file.name)
    this.touch(file)
  }

  touch(file: DriveFile): void {
    file.modifiedMs = this.#now()
    file.version += 1
    this.#note(file)
  }

  remove(id: string): void {
    const file = this.#files.get(id)
    this.#files.delete(id)
    if (file) this.#note(file, true)
  }

  #note(file: DriveFile, isRemoved = false): void {
    this.#lastChange += 1
    // Taken out first, so that it stands last.
    this.#changes.delete(file.id)
    this.#changes.set(file.id, { number: this.#lastChange, file, timeMs: this.#now(), isRemoved })
  }

  newFileId(): string {
    return `1${Array.from({ length: 43 }, () => ID_LETTERS[Math.floor(this.#random() * 64)] ?? 'A').join('')}`
  }

  newNumber(): number {
    return Math.floor(this.#random() * 2_147_483_646) + 1
  }
}

/** The same account has the same permission id everywhere. */
export function permissionId(address: string): string {
  let hash = 7n
  for (const letter of address) hash = (hash * 131n + BigInt(letter.codePointAt(0) ?? 0)) % 10n ** 20n
  return hash.toString().padStart(20, '1')
}

const RANKS = ['reader', 'commenter', 'writer', 'fileOrganizer', 'organizer', 'owner']

/** What `openedBy` holds for a file that this caller created or picked. */
export function openingBy({ user, project = '' }: Pick<Caller, 'user' | 'project'>): string {
  return `${user} ${project}`
}

/** drive.file does not reach what the person never opened with this app, whatever the person may do with it. */
export function isWithinReach(file: DriveFile, caller: Caller): boolean {
  return !caller.onlyPicked || file.openedBy.has(caller.user) || file.openedBy.has(openingBy(caller))
}

/** Whoever has the link may open it, but finds it in no list. */
export function isListedFor({ permissions }: DriveFile, user: string): boolean {
  return permissions.some((one) => one.type !== 'anyone' && isFor(one, user))
}

function isFor({ type, emailAddress, domain }: Permission, user: string): boolean {
  return type === 'anyone' || emailAddress === user || (domain !== undefined && user.endsWith(`@${domain}`))
}

/** none where the user cannot even see the file. */
export function accessOf(file: DriveFile, user: string): 'none' | 'read' | 'comment' | 'write' {
  const ranks = file.permissions.filter((one) => isFor(one, user)).map((one) => RANKS.indexOf(one.role))
  const best = Math.max(-1, ...ranks)
  if (best < 0) return 'none'
  if (best >= RANKS.indexOf('writer')) return 'write'
  return best >= RANKS.indexOf('commenter') ? 'comment' : 'read'
}
