import { setImmediate as nextLook } from 'node:timers/promises'
import { SqliteDialect, type SqliteDialectConfig, SqliteDriver } from 'kysely'
import type { Clock } from '../../../clock.ts'

/**
 * SQLite works on the thread that answers everybody, and each commit waits for the disk. Of writes that wait for one another, the
 * next begins in the moment the last one ends: fifty at once were one piece of a fifth of a second in which nobody was answered.
 * So whoever gets the connection after so long looks at the sockets first.
 */
const longestPieceMs = 2

/** `onFree`: called whenever the connection has done something, and is in no transaction. */
export function createDialectInTurns(
  config: SqliteDialectConfig,
  clock: Pick<Clock, 'elapsedMs'>,
  onFree: () => void,
) {
  return new DialectInTurns(config, clock, onFree)
}

class DialectInTurns extends SqliteDialect {
  readonly #config: SqliteDialectConfig
  readonly #clock: Pick<Clock, 'elapsedMs'>
  readonly #onFree: () => void
  constructor(config: SqliteDialectConfig, clock: Pick<Clock, 'elapsedMs'>, onFree: () => void) {
    super(config)
    this.#config = config
    this.#clock = clock
    this.#onFree = onFree
  }
  override createDriver() {
    return new DriverInTurns(this.#config, this.#clock, this.#onFree)
  }
}

class DriverInTurns extends SqliteDriver {
  readonly #clock: Pick<Clock, 'elapsedMs'>
  readonly #onFree: () => void
  #lookedMs: number
  constructor(config: SqliteDialectConfig, clock: Pick<Clock, 'elapsedMs'>, onFree: () => void) {
    super(config)
    this.#clock = clock
    this.#onFree = onFree
    this.#lookedMs = clock.elapsedMs()
  }
  /** Called when the connection is free for this one, so that nobody goes past while it looks. */
  override async acquireConnection() {
    if (this.#clock.elapsedMs() - this.#lookedMs >= longestPieceMs) {
      await nextLook()
      this.#lookedMs = this.#clock.elapsedMs()
    }
    return super.acquireConnection()
  }
  override async releaseConnection() {
    this.#onFree()
    return super.releaseConnection()
  }
}
