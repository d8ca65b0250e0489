import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const folder = import.meta.dirname

/** Others' packages are the bench's alone: a folder and a lock file of their own, fetched when they are first needed. */
export async function installPeers(say: (line: string) => void): Promise<void> {
  // npm writes that record last, so an install that was cut short has none.
  const installedMs = await changedMs(join(folder, 'node_modules', '.package-lock.json'))
  if (installedMs > (await changedMs(join(folder, 'package-lock.json')))) return
  say('installing json-server, Mockoon and Fastify for the bench; this takes up to a minute')
  const args = ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await promisify(execFile)('npm', args)
}

async function changedMs(path: string): Promise<number> {
  const found = await stat(path).catch(() => null)
  return found?.mtimeMs ?? 0
}
