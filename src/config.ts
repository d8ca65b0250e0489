import { isIP } from 'node:net'
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
  /** What the operator changes of the plans, by name. */
  plans: Record<string, PlanSetting>
  /** Addresses and networks of proxies that may say who the client is. */
  trustedProxies: string[]
  /** How many requests of a stranger may be refused in a minute before the address must wait. */
  refusalsPerMinute: number
}

/** null = unlimited. */
export interface PlanSetting {
  requestsPerMinute: number | null
  requestsPerMonth: number | null
  writeApi: boolean
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

const planLimit = z.int().positive().nullable()
const planTable = z.record(
  z.string().regex(/^[a-z][a-z0-9-]{0,31}$/),
  z.strictObject({ requests_per_minute: planLimit, requests_per_month: planLimit, write_api: z.boolean() }),
)
const plansHelp =
  'must be JSON such as {"free": {"requests_per_minute": 60, "requests_per_month": 5000, "write_api": false}}; ' +
  'null for no limit'

function parsedPlans(text: string): Record<string, PlanSetting> | null {
  const parsed = z.string().transform(jsonOrUndefined).pipe(planTable).safeParse(text)
  if (!parsed.success) return null
  return Object.fromEntries(
    Object.entries(parsed.data).map(([name, plan]) => [
      name,
      {
        requestsPerMinute: plan.requests_per_minute,
        requestsPerMonth: plan.requests_per_month,
        writeApi: plan.write_api,
      },
    ]),
  )
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An address, or one with the length of a network. */
function isNetwork(entry: string): boolean {
  const [address = '', bits] = entry.split('/', 2)
  const maxBits = isIP(address) === 6 ? 128 : 32
  return isIP(address) !== 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits))
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
  ROWPORT_PLANS: z
    .string()
    .transform(parsedPlans)
    .refine((plans) => plans !== null, plansHelp)
    .optional(),
  ROWPORT_TRUSTED_PROXIES: z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .refine((entries) => entries.every(isNetwork), 'must be addresses or networks such as 192.0.2.0/24,::1')
    .optional(),
  ROWPORT_REFUSALS_PER_MINUTE: wholeNumber(1, 1_000_000),
  ROWPORT_SECRET: z.string().min(16, 'must have at least 16 characters').optional(),
  DATABASE_URL: notYet('PostgreSQL is not supported yet; leave it out to use the embedded default'),
  REDIS_URL: notYet('Redis is not supported yet; leave it out to use the embedded default'),
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
const defaultRefusalsPerMinute = 600

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
    plans: data.ROWPORT_PLANS ?? {},
    trustedProxies: data.ROWPORT_TRUSTED_PROXIES ?? [],
    refusalsPerMinute: data.ROWPORT_REFUSALS_PER_MINUTE ?? defaultRefusalsPerMinute,
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
