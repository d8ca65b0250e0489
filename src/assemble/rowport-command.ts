import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, defaultDataFolder } from '../config.ts'

const root = join(import.meta.dirname, '..', '..')

/** As it must be typed in another terminal to work on this server's data. */
export function rowportCommand({
  dataFolder,
  npxPackage,
}: Pick<Config, 'dataFolder' | 'npxPackage'>): string {
  const command = bareRowportCommand(npxPackage)
  if (dataFolder === resolve(defaultDataFolder)) return command
  const isPlain = /^[\w./-]+$/.test(dataFolder)
  return `ROWPORT_DATA=${isPlain ? dataFolder : shellQuoted(dataFolder)} ${command}`
}

/**
 * For commands that need no data. A clone has the scripts; a package that was installed for everybody, as in the image, is on the
 * path; one that npx fetched is found by what npx was told.
 */
export function bareRowportCommand(npxPackage: string | null): string {
  if (existsSync(join(root, 'scripts'))) return 'npm run rowport --'
  if (/[\\/]lib[\\/]node_modules[\\/]rowport$/.test(root)) return 'rowport'
  if (npxPackage === null || !/[\\/]_npx[\\/]/.test(root)) return 'npx rowport'
  return `npx --package ${/^[\w./@:-]+$/.test(npxPackage) ? npxPackage : shellQuoted(npxPackage)} rowport`
}

/** As one word for a shell, whatever is in it. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
