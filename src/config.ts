import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { z } from 'zod'
import { defaultShares, type Shares, sharesFrom } from './shares/shares.ts'

// Settings are read once, and forms of the dashboard are short: to compile a parser takes longer than it saves (docs/decisions/041).
z.config({ jitless: true })

/** Everything that can be set. Read once, here; nobody else looks at the environment. */
export interface Config {
  host: string
  port: number
  /** How people reach this server, without a slash at the end. */
  baseUrl: string
  /** Else it is a guess, good for this machine. */
  isBaseUrlSet: boolean
  dataFolder: string
  /** What `npx --package` was told to run: for a file of a release, `npx rowport` alone would ask a registry. */
  npxPackage: string | null
  store: StoreSetting
  /** Where instances share their state; null = this process is the only one, or the store serves for that too. */
  redisUrl: string | null
  logLevel: LogLevel
  /** Memory for snapshots of sheets; beyond it the longest unused go. */
  maxSnapshotBytes: number
  /** What the operator changes of the plans, by name. */
  plans: Record<string, PlanSetting>
  /** What one account or address may take of what all share. */
  shares: Shares
  /** Addresses and networks of proxies that may say who the client is. */
  trustedProxies: string[]
  /** How many requests of a stranger may be refused in a minute before the address must wait. */
  refusalsPerMinute: number
  /** Seals the credentials of providers; null = made at the first start and kept in the data folder. */
  secret: string | null
  /** Sealed once; still open what they sealed, until it is sealed anew. */
  formerSecrets: string[]
  /** Will seal soon, and does so at other instances perhaps already; here it only opens. */
  nextSecret: string | null
  /** At the end, /readyz says so for that long before no new connection is taken: a load balancer has to notice. */
  unreadyMs: number
  /** null = Google Sheets cannot be connected. */
  google: GoogleSetting
  /** The plan of those who sign up themselves; null = only the operator makes accounts. */
  signUpPlan: string | null
  /** The plan of accounts that the operator makes, and of the sample. */
  defaultPlan: string
  /** null = no mail is sent. */
  mail: MailSetting | null
  /** Networks that webhooks may reach although they are private; there also without TLS. */
  webhookNetworks: string[]
  captcha: CaptchaConfig
}

export interface MailSetting {
  host: string
  port: number
  /** TLS from the first byte; else STARTTLS. */
  isTlsFromStart: boolean
  /** null = the server takes mail without signing in. */
  login: { user: string; password: string } | null
  /** `Rowport <rowport@example.com>`, or the address alone. */
  from: string
}

export type StoreSetting = { kind: 'sqlite'; path: string } | { kind: 'postgres'; url: string }

export interface GoogleSetting {
  /** The app as which owners let Rowport in by consent; null where the operator has registered none. */
  client: GoogleClient | null
  /** An API key of the operator's project: reads spreadsheets that are open to everybody with the link. */
  apiKey: string | null
  /** As the operator wants it, whatever `rowport google prove` found. */
  areWritesOff: boolean
  /** Another root for all of Google's addresses, without a slash at the end; null = Google itself. */
  endpoint: string | null
  scope: GoogleScope
}

export interface GoogleClient {
  clientId: string
  clientSecret: string
}

/** How far an owner's consent reaches: to what they choose at Google, or to every spreadsheet. */
/** Who is asked whether a captcha was passed; `endpoint` null: each provider at its own address. */
export interface CaptchaConfig {
  endpoint: string | null
  answerWithinMs: number
}

export type GoogleScope = (typeof googleScopes)[number]
const googleScopes = ['drive.file', 'spreadsheets'] as const

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

function parsePlans(text: string): Record<string, PlanSetting> | null {
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

export const minSecretLength = 16

/** Whether it can be listed among the former ones when its day is over: there a comma parts, and spaces are cut. */
function isListableSecret(secret: string): boolean {
  return secret.length >= minSecretLength && secret.trim() === secret && !secret.includes(',')
}

const oneSecret = z
  .string()
  .refine(
    isListableSecret,
    `must have at least ${minSecretLength} characters, no comma, and no space at either end`,
  )
  .optional()

/** Scheme, host and port alone; null when there is more, or less. */
function originOf(text: string): string | null {
  const url = /^https?:\/\//.test(text) ? URL.parse(text) : null
  return url && url.href === `${url.origin}/` ? url.origin : null
}

/** A `%` in a password that is no escape is most likely one that was not encoded. */
function hasEncodedLogin(text: string | undefined): boolean {
  const { username = '', password = '' } = URL.parse(text ?? '') ?? {}
  try {
    decodeURIComponent(username + password)
    return true
  } catch {
    return false
  }
}

/** The text itself is never told back: it holds a password. */
function serverUrl(protocol: RegExp, example: string) {
  return z
    .string()
    .refine((text) => {
      const url = URL.parse(text)
      return url !== null && protocol.test(url.protocol) && url.hostname !== ''
    }, `must be a URL such as ${example}`)
    .optional()
}

const mailAddress = String.raw`[^\s<>@",;:\\]+@[^\s<>@",;:\\]+`
const mailFrom = new RegExp(String.raw`^(?:${mailAddress}|[^<>@",;:\\\p{Cc}]+ <${mailAddress}>)$`, 'u')

const settings = z.object({
  PORT: wholeNumber(0, 65_535),
  HOST: z.string().min(1).optional(),
  BASE_URL: z
    .url({ protocol: /^https?$/, error: 'must be a URL such as https://sheets.example.com' })
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
    .transform(parsePlans)
    .refine((plans) => plans !== null, plansHelp)
    .optional(),
  ROWPORT_SHARES: z
    .string()
    .transform((text, { addIssue }) => {
      const shares = sharesFrom(jsonOrUndefined(text))
      if (!('problem' in shares)) return shares
      addIssue({ code: 'custom', message: shares.problem })
      return z.NEVER
    })
    .optional(),
  ROWPORT_TRUSTED_PROXIES: z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .refine(
      (entries) => entries.every(isNetwork),
      'must be IP addresses or networks such as 192.0.2.0/24,::1',
    )
    .optional(),
  ROWPORT_REFUSALS_PER_MINUTE: wholeNumber(1, 1_000_000),
  ROWPORT_UNREADY_SECONDS: wholeNumber(0, 300),
  ROWPORT_SECRET: oneSecret,
  ROWPORT_FORMER_SECRETS: z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .refine(
      (entries) => entries.every(isListableSecret),
      `must be secrets of at least ${minSecretLength} characters, comma-separated`,
    )
    .optional(),
  ROWPORT_NEXT_SECRET: oneSecret,
  DATABASE_URL: serverUrl(/^postgres(ql)?:$/, 'postgres://user:password@host/database'),
  REDIS_URL: serverUrl(/^rediss?:$/, 'redis://host:6379'),
  SMTP_URL: serverUrl(/^smtps?:$/, 'smtp://user:password@smtp.example.com:587').refine(
    hasEncodedLogin,
    'user and password must be URL-encoded: % is %25',
  ),
  MAIL_FROM: z
    .string()
    .trim()
    .regex(mailFrom, 'must be an email address such as Rowport <rowport@example.com>')
    .optional(),
  ROWPORT_WEBHOOK_ALLOW: z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .refine((entries) => entries.every(isNetwork), 'must be IP addresses or networks such as 10.0.0.0/8,::1')
    .optional(),
  ROWPORT_SIGN_UP: z.enum(['on', 'off'], { error: 'must be on or off' }).optional(),
  ROWPORT_SIGN_UP_PLAN: z.string().min(1).optional(),
  ROWPORT_DEFAULT_PLAN: z.string().min(1).optional(),
  GOOGLE_CLIENT_ID: z.string().optional(),
  GOOGLE_CLIENT_SECRET: z.string().optional(),
  GOOGLE_API_KEY: z
    .string()
    .regex(/^[\w-]{20,100}$/, 'must be a key such as AIza… of the Google Cloud console')
    .optional(),
  GOOGLE_WRITES: z.enum(['on', 'off'], { error: 'must be on or off' }).optional(),
  GOOGLE_ENDPOINT: z
    .string()
    .transform(originOf)
    .refine((origin) => origin !== null, 'must be scheme, host and port alone, such as http://localhost:9010')
    .optional(),
  CAPTCHA_ENDPOINT: z
    .string()
    .transform(originOf)
    .refine((origin) => origin !== null, 'must be scheme, host and port alone, such as http://localhost:9011')
    .optional(),
  GOOGLE_SCOPE: z.enum(googleScopes, { error: `must be one of ${googleScopes.join(', ')}` }).optional(),
})

/** A visitor waits for it. */
const captchaWithinMs = 5_000

export const defaultDataFolder = 'data'
const defaultPort = 8787
const defaultSnapshotMegabytes = 512
const defaultRefusalsPerMinute = 600
/** One machine alone has nobody who would take over meanwhile. */
const unreadySecondsAlone = 0
const unreadySecondsAmongOthers = 5
const defaultSignUpPlan = 'free'
/** Who runs it owns it: plans are for those whom they let in. */
const defaultPlan = 'unlimited'
/** Only the files that the owner chooses; `spreadsheets` would be every spreadsheet they have. */
const defaultGoogleScope: GoogleScope = 'drive.file'

/** `isTerminal`: a person watches, so by default only warnings are logged between the lines that are for them. */
export function parseConfig(env: NodeJS.ProcessEnv, isTerminal: boolean): Config | ConfigProblems {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = settings.safeParse(given)
  const problems = [
    ...incompleteGoogle(given),
    ...incompleteMail(given),
    ...missingSecret(given),
    ...misspelt(given),
  ]
  if (parsed.success) problems.push(...formerAndNext(parsed.data))
  else problems.unshift(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`))
  if (!parsed.success || problems.length > 0) return { problems }
  const { data } = parsed
  const dataFolder = resolve(data.ROWPORT_DATA ?? defaultDataFolder)
  const host = data.HOST ?? '127.0.0.1'
  const port = data.PORT ?? defaultPort
  const unreadySeconds = data.DATABASE_URL ? unreadySecondsAmongOthers : unreadySecondsAlone
  return {
    host,
    port,
    isBaseUrlSet: data.BASE_URL !== undefined,
    baseUrl: (data.BASE_URL ?? `http://${reachableAt(host)}:${port}`).replace(/\/+$/, ''),
    dataFolder,
    npxPackage: (env.npm_command === 'exec' && env.npm_config_package) || null,
    store: data.DATABASE_URL
      ? { kind: 'postgres', url: data.DATABASE_URL }
      : { kind: 'sqlite', path: resolve(dataFolder, 'rowport.db') },
    redisUrl: data.REDIS_URL ?? null,
    logLevel: data.ROWPORT_LOG_LEVEL ?? (isTerminal ? 'warn' : 'info'),
    maxSnapshotBytes: (data.ROWPORT_SNAPSHOT_MB ?? defaultSnapshotMegabytes) * 1024 * 1024,
    plans: data.ROWPORT_PLANS ?? {},
    shares: data.ROWPORT_SHARES ?? defaultShares,
    trustedProxies: data.ROWPORT_TRUSTED_PROXIES ?? [],
    refusalsPerMinute: data.ROWPORT_REFUSALS_PER_MINUTE ?? defaultRefusalsPerMinute,
    secret: data.ROWPORT_SECRET ?? null,
    formerSecrets: data.ROWPORT_FORMER_SECRETS ?? [],
    nextSecret: data.ROWPORT_NEXT_SECRET ?? null,
    unreadyMs: (data.ROWPORT_UNREADY_SECONDS ?? unreadySeconds) * 1_000,
    google: googleSetting(data),
    signUpPlan: data.ROWPORT_SIGN_UP === 'on' ? (data.ROWPORT_SIGN_UP_PLAN ?? defaultSignUpPlan) : null,
    defaultPlan: data.ROWPORT_DEFAULT_PLAN ?? defaultPlan,
    mail: mailSetting(data),
    webhookNetworks: data.ROWPORT_WEBHOOK_ALLOW ?? [],
    captcha: { endpoint: data.CAPTCHA_ENDPOINT ?? null, answerWithinMs: captchaWithinMs },
  }
}

/** Ports of RFC 8314, where the URL names none. */
const tlsMailPort = 465
const startTlsMailPort = 587

function mailSetting({ SMTP_URL, MAIL_FROM }: z.infer<typeof settings>): MailSetting | null {
  if (SMTP_URL === undefined || MAIL_FROM === undefined) return null
  const url = new URL(SMTP_URL)
  const isTlsFromStart = url.protocol === 'smtps:'
  const usualPort = isTlsFromStart ? tlsMailPort : startTlsMailPort
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? usualPort : Number(url.port),
    isTlsFromStart,
    login: user === '' ? null : { user, password },
    from: MAIL_FROM,
  }
}

function googleSetting(data: z.infer<typeof settings>): GoogleSetting {
  const { GOOGLE_CLIENT_ID: clientId, GOOGLE_CLIENT_SECRET: clientSecret } = data
  const isRegistered = clientId !== undefined && clientSecret !== undefined
  return {
    client: isRegistered ? { clientId, clientSecret } : null,
    apiKey: data.GOOGLE_API_KEY ?? null,
    areWritesOff: data.GOOGLE_WRITES === 'off',
    endpoint: data.GOOGLE_ENDPOINT ?? null,
    scope: data.GOOGLE_SCOPE ?? defaultGoogleScope,
  }
}

/** A secret of each machine's own would open nothing that another one sealed. */
function missingSecret(given: Record<string, unknown>): string[] {
  const isMissing = 'DATABASE_URL' in given && !('ROWPORT_SECRET' in given)
  return isMissing ? ['ROWPORT_SECRET: is needed with DATABASE_URL, the same on every instance'] : []
}

/** As a former one it would be a reason to seal anew what others have just sealed with it, to and fro. */
function formerAndNext(data: z.infer<typeof settings>): string[] {
  const { ROWPORT_NEXT_SECRET: next, ROWPORT_FORMER_SECRETS: former = [] } = data
  const isBoth = next !== undefined && former.includes(next)
  return isBoth ? ['ROWPORT_NEXT_SECRET: is among ROWPORT_FORMER_SECRETS too; it is one or the other'] : []
}

/** Half a setting would leave consent off without a word. */
function incompleteGoogle(given: Record<string, unknown>): string[] {
  const pair = ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET']
  const [there, ...others] = pair.filter((name) => name in given)
  if (others.length > 0) return []
  const missing = pair.find((name) => name !== there)
  if (there) return [`${there}: needs ${missing} as well; set both, or neither to do without consent`]
  return 'GOOGLE_SCOPE' in given ? [`GOOGLE_SCOPE: means nothing without ${pair.join(' and ')}`] : []
}

function incompleteMail(given: Record<string, unknown>): string[] {
  const pair = ['SMTP_URL', 'MAIL_FROM']
  const [there, ...others] = pair.filter((name) => name in given)
  if (there === undefined || others.length > 0) return []
  const missing = pair.find((name) => name !== there)
  return [`${there}: needs ${missing} as well; set both, or neither to do without email`]
}

/** A server that listens on one address of the machine only is not found under the name `localhost`. */
function reachableAt(host: string): string {
  if (/^(?:127\..*|0\.0\.0\.0|::1?|localhost)$/.test(host)) return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** Where the docs let clients keep their key: whoever exports it must still be able to start a server beside them. */
const clientVariables = ['ROWPORT_KEY']

/** A setting with our prefix that we do not know is a typing error, and silence would hide it. */
function misspelt(given: Record<string, unknown>): string[] {
  const ours = Object.keys(settings.shape).filter((name) => name.startsWith('ROWPORT_'))
  return Object.keys(given)
    .filter((name) => name.startsWith('ROWPORT_') && ![...ours, ...clientVariables].includes(name))
    .map((name) => `${name}: there is no such setting; those that begin so are ${ours.join(', ')}`)
}
