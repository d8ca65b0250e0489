import { createInspection } from '../assemble/inspection.ts'
import { systemClock } from '../clock.ts'
import { parseConfig } from '../config.ts'
import { examineDataFolder, examineModes } from './data-folder.ts'
import { examineFiles } from './files.ts'
import { type Finding, fine, wrong } from './finding.ts'
import { examineGoogle, examineGoogleClock } from './google.ts'
import { examineMail } from './mail.ts'
import { examineSecret } from './secret.ts'
import { examineClock, examineRedis } from './servers.ts'
import { examineStore } from './store.ts'

/** Looks at everything that a server needs, beside a running one or before its first start, and changes nothing. */
export async function examine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const config = parseConfig(env, true)
  if ('problems' in config) {
    return config.problems.map((problem) =>
      wrong(
        'Settings',
        `${problem}.`,
        'Correct it; docs/operating.md has all settings. Until then nothing else can be looked at.',
      ),
    )
  }
  const inspection = createInspection(systemClock)
  const dataFolder = needsDataFolder(config) ? await examineDataFolder(config.dataFolder) : null
  const isRoomy = dataFolder === null || dataFolder.advice === null
  const modes = dataFolder && isRoomy ? await examineModes(config.dataFolder) : null
  const { finding: store, inspected } = await examineStore(config, inspection, isRoomy)
  const aheadMs = inspected?.aheadMs ?? null
  // Nobody else is asked: who has no spreadsheet there may be on a machine that reaches nobody.
  const isGoogleUsed = inspected?.sheets.some(({ provider }) => provider === 'google') ?? false
  return [
    fine('Settings', `All can be read; people reach this server at ${config.baseUrl}.`),
    ...(dataFolder ? [modes ?? dataFolder] : []),
    store,
    ...(aheadMs === null ? [] : [examineClock('PostgreSQL', aheadMs)]),
    ...(config.redisUrl === null ? [] : await examineRedis(config.redisUrl, inspection)),
    await examineSecret(config, inspected?.sealedBy ?? []),
    ...examineGoogle(config, inspection.google(config.google, inspected?.proofs ?? [])),
    ...(isGoogleUsed ? [await examineGoogleClock(config, inspection)] : []),
    await examineMail(config, inspection),
    // Which files are connected is in the store: where that could not be read, nothing is said of them.
    ...(store.advice === null ? await examineFiles(inspected?.sheets ?? []) : []),
  ]
}

/** Whether something of the server lies in the data folder; with PostgreSQL nothing does. */
function needsDataFolder({ store: { kind } }: { store: { kind: string } }): boolean {
  return kind === 'sqlite'
}
