import type { Config } from './config.ts'
import { StoreFailure } from './errors.ts'

/** Node's and SQLite's own words for the failures that a newcomer meets are not for people. */
export function inPlainWords(error: unknown, { host, dataFolder, store }: Config): string {
  const failure = error instanceof StoreFailure ? error.cause : error
  if (store.kind === 'postgres' && error instanceof StoreFailure) {
    return postgresProblem(store.url, error)
  }
  const { code, port, syscall, path = '', message, errcode = 0 } = failure as StartFailure
  if (code === 'EADDRINUSE') return `port ${port} is taken; choose another with --port <n> or PORT=…`
  if (code === 'EACCES' && port) return `port ${port} needs more rights; choose one above 1023`
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo')
    return `HOST "${host}" is not an address of this machine`
  if (code && (syscall === 'mkdir' || path.startsWith(dataFolder)))
    return `the data folder ${dataFolder} cannot be used: ${inTheFolder[code] ?? message}`
  if (code === 'ERR_SQLITE_ERROR')
    return `the data in ${dataFolder} cannot be used: ${inTheDatabase[errcode & 0xff] ?? message}`
  return message
}

type StartFailure = NodeJS.ErrnoException & { port?: number; errcode?: number }

export const inTheFolder: Record<string, string> = {
  EEXIST: 'it is not a folder',
  ENOTDIR: 'it is not a folder, or lies in something that is not one',
  ENOENT: 'it cannot be made there',
  EACCES: 'writing there is not allowed',
  EPERM: 'writing there is not allowed',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
}

/** What can be wrong with the database, by SQLite's primary result code, https://sqlite.org/rescode.html */
const inTheDatabase: Record<number, string> = {
  5: 'another process keeps it locked',
  8: 'writing there is not allowed',
  11: 'rowport.db is damaged',
  13: 'the disk is full',
  14: 'rowport.db cannot be opened',
  26: 'rowport.db is not a database',
}

/** Says what is wrong without the user and the password that the address has. */
export function postgresProblem(url: string, { cause }: StoreFailure): string {
  const { host, pathname } = new URL(url)
  // A host of several addresses fails without words of its own.
  const words = cause instanceof Error ? cause.message || String(Object(cause).code) : String(cause)
  return `PostgreSQL at ${host}${pathname} cannot be used: ${words}`
}

export function countOf(number: number, noun: string): string {
  // Not by its locale: what knows of locales takes longer to load than the rest of a first screen.
  const grouped = String(number).replace(/\B(?=(?:\d{3})+$)/g, ',')
  return `${grouped} ${noun}${number === 1 ? '' : 's'}`
}
