import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { UploadRoom } from '../management/uploads/upload-room.ts'
import { fileKind } from '../providers/file/file-kind.ts'
import { createFileProvider } from '../providers/file/file-provider.ts'
import { createGoogle } from '../providers/google/google.ts'
import { createGoogleConnection } from '../providers/google/google-connection.ts'
import { googleKind } from '../providers/google/google-kind.ts'
import type { ProviderId } from '../providers/provider-table.ts'
import type { SharedTokens } from '../providers/remote/shared-tokens.ts'
import type { Observe } from '../reporting/observe.ts'
import { privatePaths } from '../secrets/private-data.ts'
import type { Sealing } from '../secrets/sealing.ts'
import type { ShareValue } from '../shared-state/registers/shared-value.ts'
import type { LoopTurns } from '../shares/loop-turns.ts'
import type { Connection } from '../sheets/connection.ts'
import type { Provider } from '../sheets/provider.ts'
import type { ProviderKind } from '../sheets/provider-kind.ts'
import type { ThreadPool } from '../sheets/threads/thread-pool.ts'
import type { Store } from '../store/store.ts'

/** One provider, built: how it is known, what reads and writes there, and how owners let Rowport in. */
export interface Home {
  kind: ProviderKind
  provider: Provider
  /** null where nobody has to. */
  connection: Connection | null
  close(): Promise<void>
}

export interface HomeParts {
  config: Config
  store: Store
  sealing: Sealing
  clock: Clock
  observe: Observe
  sharedTokens: SharedTokens
  /** Where several servers spend from the same rations. */
  share: ShareValue
  threads: ThreadPool
  turns: LoopTurns
  /** null where files of this machine are not served. */
  room: UploadRoom | null
}

export function createHomes(parts: HomeParts): Record<ProviderId, Home> {
  return { google: googleHome(parts), file: fileHome(parts) }
}

function fileHome({ config, observe, clock, room, threads, turns }: HomeParts): Home {
  const { shares } = config
  const lengths = room && { problemWithLength: room.problemWithLength }
  const isPrivate = privatePaths(config.dataFolder)
  return {
    kind: fileKind,
    provider: createFileProvider({ observe, clock, shares, threads, turns, isPrivate, ...lengths }),
    connection: null,
    async close() {},
  }
}

function googleHome({ config, store, sealing, clock, observe, sharedTokens, share }: HomeParts): Home {
  const { google: settings, shares } = config
  const google = createGoogle({
    settings,
    store,
    sealing,
    clock,
    observe,
    sharedTokens,
    shares,
    share,
  })
  return {
    kind: googleKind,
    provider: google.provider,
    connection: createGoogleConnection(google),
    close: google.close,
  }
}
