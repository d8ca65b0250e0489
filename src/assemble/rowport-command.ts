import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defaultDataFolder } from '../config.ts'

/** As it must be typed in another terminal to work on this server's data. */
export function rowportCommand(dataFolder: string): string {
  // The image brings the command itself, with its settings, and none of the scripts.
  if (!existsSync(join(import.meta.dirname, '../../scripts'))) return 'rowport'
  const command = 'npm run rowport --'
  if (dataFolder === resolve(defaultDataFolder)) return command
  const isPlain = /^[\w./-]+$/.test(dataFolder)
  return `ROWPORT_DATA=${isPlain ? dataFolder : `'${dataFolder.replaceAll("'", `'\\''`)}'`} ${command}`
}
