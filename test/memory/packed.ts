import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }
import { projectFolder } from '../process/running.ts'

/** What an instance may hold resident, in megabytes, as people install it: doing nothing, and with three small sheets in use. */
export const mostOfPackage = { idleMb: 110, residentMb: 200 }

/** The command of the package, as `npm run package` makes it. */
export async function pack(t: { after(work: () => Promise<void>): void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-memory-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await promisify(execFile)(process.execPath, [join(projectFolder, 'scripts/package.ts'), '--out', folder])
  return join(folder, 'package/bin/rowport.cjs')
}

/** What `npm start` sets with `env NAME=value …`. */
export function settingsOfStart(): Record<string, string> {
  return Object.fromEntries(
    packageJson.scripts.start.matchAll(/\b(\w+)=(\S+)/g).map(([, name, value]) => [name, value]),
  )
}
