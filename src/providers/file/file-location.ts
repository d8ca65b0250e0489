import { realpathSync } from 'node:fs'
import { extname, resolve } from 'node:path'

/** Where a sheet's file is, as the store keeps it. */
export interface FileLocation {
  path: string
  /** XLSX only; absent = the first tab. */
  tab?: string
}

export type FileKind = 'csv' | 'xlsx'

const kindByExtension = new Map<string, FileKind>([
  ['.csv', 'csv'],
  ['.tsv', 'csv'],
  ['.txt', 'csv'],
  ['.xlsx', 'xlsx'],
  ['.xlsm', 'xlsx'],
])

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
  return {
    location: JSON.stringify(tab === null ? { path: real } : { path: real, tab }),
    source: `file:${real}`,
  }
}
