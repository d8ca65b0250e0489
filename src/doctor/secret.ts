import { stat } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { keptSecret, keptSecretPath } from '../secrets/kept-secret.ts'
import { createSealing } from '../secrets/sealing.ts'
import { type Finding, fine, wrong } from './finding.ts'

const forOthers = 0o077

/** There, kept from others, and the one that opens what is in the store. */
export async function examineSecret(config: Config, sealedBy: readonly string[]): Promise<Finding> {
  const { secret, dataFolder, formerSecrets, nextSecret } = config
  let kept: string | null
  try {
    kept = secret ?? (await keptSecret(dataFolder))
  } catch (error) {
    const where = keptSecretPath(dataFolder)
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'EACCES' || code === 'EPERM')
      return wrong('Secret', `${where} may not be read.`, 'Let the user that runs Rowport read it.')
    if (code === 'ENOTDIR')
      return wrong('Secret', `${dataFolder} is not a folder.`, 'Set ROWPORT_DATA to a folder.')
    const says = error instanceof Error ? error.message : String(error)
    return wrong('Secret', `${says}.`, 'Put the file back from a backup.')
  }
  const where = secret === null ? keptSecretPath(dataFolder) : 'ROWPORT_SECRET'
  if (kept === null) {
    if (sealedBy.length === 0) return fine('Secret', 'There is none yet; the first start makes it.')
    const says = `${where} is missing, and what was sealed with it cannot be opened: connections to Google, secrets of webhooks.`
    return wrong(
      'Secret',
      says,
      'Put it back from a backup; without it, owners connect Google again and rotate the secrets.',
    )
  }
  const { knows } = createSealing(kept, formerSecrets, nextSecret)
  if (!sealedBy.every(knows)) {
    const says = `${where} is another secret than the one that sealed what is in the store.`
    return wrong('Secret', says, 'Set the one that the server used, or name it in ROWPORT_FORMER_SECRETS.')
  }
  if (secret === null && ((await stat(where)).mode & forOthers) !== 0) {
    return wrong('Secret', `${where} can be read by other users of this machine.`, `chmod 600 ${where}`)
  }
  return fine('Secret', `It comes from ${where}.`)
}
