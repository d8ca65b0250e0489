import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const installLimitMs = 5 * 60_000

/**
 * Others' tools are these tests' alone: a folder and a lock file of their own, fetched when they are first needed. Answers with the
 * reason where that cannot be done, as on a machine without a way to the registry. Tests that run at once need a folder each.
 */
export async function installTools(
  say: (line: string) => void,
  folder = import.meta.dirname,
): Promise<string | null> {
  // npm writes that record last, so an install that was cut short has none.
  const installedMs = await changedMs(join(folder, 'node_modules', '.package-lock.json'))
  if (installedMs > (await changedMs(join(folder, 'package-lock.json')))) return null
  if (!(await isRegistryReached(folder))) return 'the registry of npm cannot be reached'
  const begunMs = performance.now()
  // Not `npm ci`: it calls a lock file that npm has just made incomplete where a package has builds for platforms that none is made for.
  const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const outcome = await promisify(execFile)('npm', args, { cwd: folder, timeout: installLimitMs }).then(
    () => null,
    (error: Error) => `the tools cannot be installed: ${error.message}`,
  )
  say(`${outcome ?? 'tools installed'}, ${Math.round((performance.now() - begunMs) / 1_000)} s`)
  return outcome
}

async function isRegistryReached(folder: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'registry'], { cwd: folder })
  return fetch(stdout.trim(), { method: 'HEAD', signal: AbortSignal.timeout(10_000) }).then(
    () => true,
    () => false,
  )
}

async function changedMs(path: string): Promise<number> {
  const found = await stat(path).catch(() => null)
  return found?.mtimeMs ?? 0
}

/** A package of this folder. Its types are not there before it is installed, so it has none here. */
// biome-ignore lint/suspicious/noExplicitAny: What others' packages export, their own types would say.
export function tool(name: string): Promise<any> {
  return import(name)
}
