import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defaultDataFolder } from '../config.ts'

const root = join(import.meta.dirname, '..', '..')

/** As it must be typed in another terminal to work on this server's data. */
export function rowportCommand(dataFolder: string): string {
  const command = commandOf(root)
  if (dataFolder === resolve(defaultDataFolder)) return command
  const isPlain = /^[\w./-]+$/.test(dataFolder)
  return `ROWPORT_DATA=${isPlain ? dataFolder : shellQuoted(dataFolder)} ${command}`
}

/** A clone has the scripts; a package that was installed for everybody, as in the image, is on the path. */
function commandOf(folder: string): string {
  if (existsSync(join(folder, 'scripts'))) return 'npm run rowport --'
  return /[\\/]lib[\\/]node_modules[\\/]rowport$/.test(folder) ? 'rowport' : 'npx rowport'
}

/** As one word for a shell, whatever is in it. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
