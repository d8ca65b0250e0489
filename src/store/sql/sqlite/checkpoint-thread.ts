import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/** The far side of `checkpoints.ts`: a connection of its own that copies when it is told to, and answers how far it came. */
export interface CheckpointAnswer {
  /** As far as SQLite came is also an answer where another process is copying; null where SQLite refused. */
  copied: { logPages: number; copiedPages: number } | null
}

const { path } = workerData as { path: string }
const database = new DatabaseSync(path)
// What is copied must be on the disk before the log is begun anew.
database.exec('pragma synchronous = full')
const copy = database.prepare('pragma wal_checkpoint(passive)')

parentPort?.on('message', () => {
  parentPort?.postMessage({ copied: tryCopy() } satisfies CheckpointAnswer)
})

function tryCopy(): CheckpointAnswer['copied'] {
  try {
    const { log, checkpointed } = copy.get() ?? {}
    return { logPages: Number(log), copiedPages: Number(checkpointed) }
  } catch {
    return null
  }
}
