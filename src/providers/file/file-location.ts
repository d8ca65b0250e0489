import { realpathSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import type { SingleByteEncoding } from './csv/encoding/single-byte.ts'

/** Where a sheet's file is, as the store keeps it. */
export interface FileLocation {
  path: string
  /** Not of CSV; absent = the first tab. */
  tab?: string
  /** CSV only: what the file is in where it is not Unicode; absent = told by its bytes. */
  encoding?: SingleByteEncoding
}

export type FileKind = 'csv' | 'xlsx' | 'ods'

const kindByExtension = new Map<string, FileKind>([
  ['.csv', 'csv'],
  ['.tsv', 'csv'],
  ['.txt', 'csv'],
  ['.xlsx', 'xlsx'],
  ['.xlsm', 'xlsx'],
  ['.ods', 'ods'],
])

/** For people: those that are tables as a rule. */
export const fileEndings = '.csv, .tsv, .xlsx, .ods'

export function parseFileLocation(location: string): FileLocation {
  return JSON.parse(location) as FileLocation
}

export function kindOf(path: string): FileKind | null {
  return kindByExtension.get(extname(path).toLowerCase()) ?? null
}

/**
 * Location and source of a file that an operator names. Links are followed once and for all: two names of one file
 * must share one lane and one count of writes.
 */
export function locateFile(path: string, tab: string | null): { location: string; source: string } {
  const real = realpathSync(resolve(path))
  const location: FileLocation = { path: real, ...(tab !== null && { tab }) }
  return {
    location: JSON.stringify(location),
    source: `file:${real}`,
  }
}

/** The way a sheet reads its file (which tab, in which encoding), at another path. */
export function atPath(location: string, path: string): string {
  return JSON.stringify({ ...parseFileLocation(location), path })
}
