import { resolve } from 'node:path'
import { z } from 'zod'

/** Everything that can be set. Read once, here; nobody else looks at the environment. */
export interface Config {
  host: string
  port: number
  /** How people reach this server, without a slash at the end. */
  baseUrl: string
  dataFolder: string
  store: { kind: 'sqlite'; path: string }
  logLevel: LogLevel
  /** Memory for snapshots of sheets; beyond it the longest unused go. */
  maxSnapshotBytes: number
}

export type LogLevel = (typeof logLevels)[number]
const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export interface ConfigProblems {
  problems: string[]
}

function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^[0-9]{1,9}$/, error)
    .transform(Number)
    .refine((number) => number >= min && number <= max, error)
    .optional()
}

const settings = z.object({
  PORT: wholeNumber(0, 65_535),
  HOST: z.string().min(1).optional(),
  BASE_URL: z
    .url({ protocol: /^https?$/, error: 'must be an address such as https://sheets.example.com' })
    .refine((url) => !/[?#]|^[^/]+\/\/[^/]*@/.test(url), {
      error: 'must not have a user, a query or a fragment',
      when: ({ issues }) => issues.length === 0,
    })
    .optional(),
  ROWPORT_DATA: z.string().min(1).optional(),
  ROWPORT_LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).optional(),
  ROWPORT_SNAPSHOT_MB: wholeNumber(1, 1_000_000),
  DATABASE_URL: notYet('PostgreSQL is not supported yet; leave it out to use the embedded default'),
  REDIS_URL: notYet('Redis is not supported yet; leave it out to use the embedded default'),
  ROWPORT_SECRET: notYet('no credentials are kept yet that it could encrypt; leave it out'),
  GOOGLE_CLIENT_ID: notYet('Google Sheets is not supported yet; leave it out'),
  GOOGLE_CLIENT_SECRET: notYet('Google Sheets is not supported yet; leave it out'),
  GOOGLE_ENDPOINT: notYet('Google Sheets is not supported yet; leave it out'),
})

/** Settings that the product defines but that this version cannot honour stop the start: ignoring them would surprise. */
function notYet(error: string) {
  return z.undefined({ error }).optional()
}

export const defaultDataFolder = 'data'
const defaultPort = 8787
const defaultSnapshotMegabytes = 512

/** `isTerminal`: a person watches, so by default only warnings are logged between the lines that are for them. */
export function parseConfig(env: NodeJS.ProcessEnv, isTerminal: boolean): Config | ConfigProblems {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = settings.safeParse(given)
  const problems = misspelt(given)
  if (!parsed.success) {
    problems.unshift(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`))
  }
  if (!parsed.success || problems.length > 0) return { problems }
  const { data } = parsed
  const dataFolder = resolve(data.ROWPORT_DATA ?? defaultDataFolder)
  const host = data.HOST ?? '127.0.0.1'
  const port = data.PORT ?? defaultPort
  return {
    host,
    port,
    baseUrl: (data.BASE_URL ?? `http://${reachableAt(host)}:${port}`).replace(/\/+$/, ''),
    dataFolder,
    store: { kind: 'sqlite', path: resolve(dataFolder, 'rowport.db') },
    logLevel: data.ROWPORT_LOG_LEVEL ?? (isTerminal ? 'warn' : 'info'),
    maxSnapshotBytes: (data.ROWPORT_SNAPSHOT_MB ?? defaultSnapshotMegabytes) * 1024 * 1024,
  }
}

/** A server that listens on one address of the machine only is not found under the name `localhost`. */
function reachableAt(host: string): string {
  if (/^(?:127\..*|0\.0\.0\.0|::1?|localhost)$/.test(host)) return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** A setting with our prefix that we do not know is a typing error, and silence would hide it. */
function misspelt(given: Record<string, unknown>): string[] {
  const ours = Object.keys(settings.shape).filter((name) => name.startsWith('ROWPORT_'))
  return Object.keys(given)
    .filter((name) => name.startsWith('ROWPORT_') && !ours.includes(name))
    .map((name) => `${name}: there is no such setting; those that begin so are ${ours.join(', ')}`)
}
