import { isDeepStrictEqual } from 'node:util'
import { createGoogleWorld } from '../../emulator/sheets/world.ts'

/** One recorded request to Google with its answer. */
export interface Interaction {
  method: string
  url: string
  body: unknown
  status: number
  response: unknown
}

export interface Mismatch {
  interaction: Interaction
  /** What the emulator answered. */
  status: number
  body: unknown
  /** The first place where the two differ. */
  at: string
}

const USER = 'recorder@example.com'

/** Chosen at random by Google: learnt where they first appear, in the answer to what created them. */
const RANDOM_KEYS = ['id', 'sheetId', 'namedRangeId', 'protectedRangeId', 'spreadsheetId', 'spreadsheetUrl']
const CREATES = /addSheet|duplicateSheet|addNamedRange|addProtectedRange/

/** Times, and what belongs to the account that recorded. */
const IGNORED_KEYS = [
  'createdTime',
  'modifiedTime',
  'emailAddress',
  'displayName',
  'photoLink',
  'permissionId',
  'editors',
  'version',
]

/** Replays one recording in order against a world of its own. */
export function replay(interactions: Interaction[]): Mismatch[] {
  let now = Date.UTC(2026, 0, 1)
  let seed = 1
  const random = () => {
    seed = (seed * 48271) % 2147483647
    return seed / 2147483647
  }
  const world = createGoogleWorld({ now: () => ++now, random })
  const actual = new Map<string, string>()
  const mismatches: Mismatch[] = []
  for (const interaction of interactions) {
    setUp(world, interaction, actual)
    const { method, url } = interaction
    const [path = '', query = ''] = withIds(url, actual).split('?')
    const body =
      interaction.body === null ? undefined : JSON.parse(withIds(JSON.stringify(interaction.body), actual))
    const answer = world.call({ method, path, query: new URLSearchParams(query), body, user: USER })
    if (isCreation(interaction)) learn(interaction.response, answer.body, actual)
    const expected = comparable(JSON.parse(withIds(JSON.stringify(interaction.response), actual)))
    const found = comparable(answer.body ?? null)
    if (answer.status !== interaction.status || !isDeepStrictEqual(found, expected)) {
      const at = answer.status === interaction.status ? difference(expected, found, '') : 'status'
      mismatches.push({ interaction, status: answer.status, body: answer.body, at })
    }
  }
  return mismatches
}

/**
 * A spreadsheet that a recording opens without having created it:
 * refused with 403 it belongs to somebody else, answered it was already there, not found it does not exist.
 */
function setUp(
  world: ReturnType<typeof createGoogleWorld>,
  interaction: Interaction,
  actual: Map<string, string>,
): void {
  const id = /\/(?:spreadsheets|files)\/([\w-]{30,})/.exec(interaction.url)?.[1]
  if (!id || actual.has(id) || interaction.status === 404) return
  const owner = interaction.status === 403 ? 'somebody-else@example.com' : USER
  const { spreadsheetId } = world.createSpreadsheet({ title: 'Opened', owner, tabs: [] })
  actual.set(id, spreadsheetId)
}

function isCreation({ method, url, body }: Interaction): boolean {
  if (method !== 'POST') return false
  return /\/drive\/v3\/files(\/[^/]+\/copy)?(\?|$)/.test(url) || CREATES.test(JSON.stringify(body))
}

function learn(recorded: unknown, answered: unknown, actual: Map<string, string>): void {
  if (!isRecord(recorded) || !isRecord(answered)) return
  for (const [key, value] of Object.entries(recorded)) {
    const other = answered[key]
    if (RANDOM_KEYS.includes(key) && value !== other && other !== undefined)
      actual.set(String(value), String(other))
    else learn(value, other, actual)
  }
}

/** Ids are long enough not to appear by chance, so that replacing text is safe. */
function withIds(text: string, actual: Map<string, string>): string {
  let replaced = text
  for (const [recorded, id] of actual) {
    if (recorded.length >= 5) replaced = replaced.replaceAll(recorded, id)
  }
  return replaced
}

function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      IGNORED_KEYS.includes(key) ? 'ignored' : comparable(member),
    ]),
  )
}

function difference(expected: unknown, found: unknown, path: string): string {
  if (isDeepStrictEqual(expected, found)) return ''
  if (!isRecord(expected) || !isRecord(found)) {
    return `${path || 'body'}: recorded ${short(expected)}, answered ${short(found)}`
  }
  const keys = new Set([...Object.keys(expected), ...Object.keys(found)])
  const first = [...keys].find((key) => !isDeepStrictEqual(expected[key], found[key])) ?? ''
  return difference(expected[first], found[first], path ? `${path}.${first}` : first)
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 120)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
