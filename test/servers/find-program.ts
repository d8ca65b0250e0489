import { accessSync, constants, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The first of these programs on the PATH, else the first file that one of the patterns matches. */
export function findProgram(names: string[], patterns: string[] = []): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const onPath = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return onPath.find(isExecutable) ?? patterns.flatMap(newestFirst).find(isExecutable)
}

// Version folders: 16 before 9.6.
function newestFirst(pattern: string): string[] {
  return globSync(pattern).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
