import { type DestinationStream, pino } from 'pino'
import type { LogLevel } from '../config.ts'
import type { Observation, Observe } from './observe.ts'

/**
 * Which observation is logged at which level; requests and reads are counted (metrics.ts), not logged, because two
 * lines for each would halve the speed of the server.
 */
const levels: Record<Observation['event'], Exclude<LogLevel, 'silent'> | null> = {
  server_listening: 'info',
  server_draining: 'info',
  server_stopped: 'info',
  store_made: 'info',
  migration_applied: 'info',
  request_answered: null,
  request_unreadable: 'debug',
  malfunction: 'error',
  sheet_fetched: 'debug',
  provider_failed: 'warn',
  rows_written: 'debug',
  snapshots_held: null,
  snapshot_dropped: null,
  decoder_lost: 'error',
  provider_called: 'debug',
  provider_rationed: 'warn',
  provider_rested: 'warn',
  credential_expired: 'warn',
  data_open_to_others: 'warn',
  store_lost: 'error',
  store_back: 'info',
  redis_connected: 'info',
  redis_lost: 'warn',
  rate_windows_moved: 'warn',
  write_raced: 'warn',
  rows_put_right: 'warn',
  file_saved_too_late: 'warn',
  mail_sent: 'debug',
  mail_failed: 'warn',
  mail_given_up: 'error',
  webhook_delivered: 'debug',
  webhook_failed: 'info',
  webhook_turned_off: 'warn',
  share_used_up: 'debug',
  changes_not_logged: 'warn',
  turn_waited: null,
}

/**
 * Keys, Google's tokens and webhook secrets, wherever one might hide in the text of some error. No word boundary in
 * front: in a line of JSON a newline is the two characters `\n`, so a key at the start of a line follows a letter.
 */
const secrets =
  /sk_(?:live|test)_[0-9A-Za-z]+|ya29\.[\w.-]+|1(?:\/|%2F){2}[\w-]+|whsec_[\w+/=-]+|GOCSPX-[\w-]+/gi

/** What an owner called a file, wherever the path of an upload stands in the text of some error; whose it is may be told. */
const uploadNames = /([/\\]files[/\\]+acc_[0-9A-Za-z]+[/\\]+)[\p{L}\p{N} ._()-]+/gu

/** A chain of causes may be a ring. */
const maxCauses = 5

/** The log: JSON lines. An observation has no field for a secret, and the line is scrubbed all the same. */
export function createLog(level: LogLevel, destination: DestinationStream): Observe {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError, cause: describeError },
      hooks: { streamWrite: scrubLine },
    },
    destination,
  )
  return (observation) => {
    const at = levels[observation.event]
    if (at !== null) logger[at](observation)
  }
}

/** pino's own serializer copies every property of an error, and libraries hang whole requests on theirs. */
function describeError(error: unknown): object | string {
  if (!(error instanceof Error)) return notAnError(error)
  const code = 'code' in error ? { code: String(error.code) } : {}
  return { type: error.name, message: error.message, ...code, stack: withCauses(error) }
}

function withCauses(error: Error): string {
  const stacks: string[] = []
  let next: unknown = error
  while (next !== undefined && stacks.length < maxCauses) {
    stacks.push(next instanceof Error ? (next.stack ?? next.message) : notAnError(next))
    next = next instanceof Error ? next.cause : undefined
  }
  return stacks.join('\ncaused by: ')
}

function notAnError(thrown: unknown): string {
  return typeof thrown === 'string' ? thrown : `a thrown ${typeof thrown}`
}

function scrubLine(line: string): string {
  return line.replace(secrets, '[secret]').replace(uploadNames, '$1[file]')
}
