import { z } from 'zod'
import type { PastChange } from '../../changes/history.ts'
import type { TextPart } from '../../changes/long-text.ts'
import type { LongName } from '../../changes/read-change.ts'
import { Refusal } from '../../errors.ts'
import { Problem } from '../../management/problem.ts'
import type { SheetRecord } from '../../management/sheets/sheets.ts'
import type {
  HistoryView,
  PastChangeView,
  RecentRequest,
  SheetChangeInput,
  SheetState,
  SheetSummary,
  SheetView,
  StartView,
} from '../contract.ts'
import type { DashboardParts } from '../dashboard-parts.ts'
import { isActiveAt } from './key-verbs.ts'
import { MadeAnswer, type OwnerCall, RawJson, type Verbs, withInput } from './route.ts'

const wholeNumber = (max: number) => z.int(`A whole number from 0 to ${max}.`).min(0).max(max)
const changeInput = z.strictObject({
  slug: z.string().max(100).optional(),
  access: z.enum(['private', 'public-read']).optional(),
  accepts: z.enum(['both', 'live']).optional(),
  cacheSeconds: wholeNumber(3_600).optional(),
  staleIfErrorSeconds: wholeNumber(86_400).optional(),
  unknownFields: z.enum(['reject', 'ignore']).optional(),
  keyColumn: z.string().min(1).max(50_000).nullable().optional(),
  autoKey: z.enum(['none', 'uuid']).optional(),
  historyDays: wholeNumber(365).optional(),
  watchSeconds: wholeNumber(3_600).optional(),
  encoding: z.string().max(100).nullable().optional(),
  paused: z.boolean().optional(),
})

export const sheetVerbs = {
  'GET /start': { owner: start },
  'GET /sheets': {
    async owner({ session }, parts) {
      const list = await parts.sheets.list(session.account)
      return { json: await summaries(session.account, list, parts) }
    },
  },
  'GET /sheets/{slug}': {
    async owner(call, parts) {
      const sheet = await sheetIn(call, parts)
      return sheet instanceof Problem ? sheet : { json: await sheetView(call, sheet, parts) }
    },
  },
  'PATCH /sheets/{slug}': {
    takesAccessAway: isPausing,
    ...withInput(changeInput, async (call, change, parts) => {
      const [slug = ''] = call.names
      const changed = await parts.sheets.change(call.session.account, slug, changeToMake(change))
      return changed instanceof Problem ? changed : { json: await sheetView(call, changed, parts) }
    }),
  },
  'DELETE /sheets/{slug}': {
    needsRecentSignIn: true,
    async owner({ session, names: [slug = ''] }, { sheets }) {
      const removed = await sheets.remove(session.account, slug)
      return removed instanceof Problem ? removed : { json: null }
    },
  },
  'GET /sheets/{slug}/rows': {
    async owner(call, parts) {
      const sheet = await sheetIn(call, parts)
      if (sheet instanceof Problem) return sheet
      const wait = await parts.pace.takeRows(call.session.account)
      if (wait) return wait
      const isOver = await isConnectionOver(call.session.account.id, sheet, parts)
      const rows = await parts.ownerReading.rows(
        sheet,
        isOver,
        call.query.toString(),
        call.request.headers['accept-encoding'],
      )
      return rows instanceof Refusal ? rows : new MadeAnswer(rows)
    },
  },
  'POST /sheets/{slug}/refresh': {
    async owner(call, parts) {
      const sheet = await sheetIn(call, parts)
      if (sheet instanceof Problem) return sheet
      const wait = await parts.pace.takeRows(call.session.account)
      return wait ?? { json: await sheetView(call, sheet, parts, true) }
    },
  },
  'GET /sheets/{slug}/requests': {
    async owner(call, parts) {
      const sheet = await sheetIn(call, parts)
      return sheet instanceof Problem ? sheet : { json: await recentRequests(call, sheet, parts) }
    },
  },
  'GET /sheets/{slug}/history': {
    async owner(call, parts) {
      const sheet = await sheetIn(call, parts)
      if (sheet instanceof Problem) return sheet
      const wait = await parts.pace.takeRows(call.session.account)
      return wait ?? (await history(call, sheet, parts))
    },
  },
  'POST /sheets/{slug}/console-key': {
    async owner(call, parts) {
      const sheet = await sheetIn(call, parts)
      if (sheet instanceof Problem) return sheet
      return { json: await parts.keys.forConsole(sheet, call.session.idHash) }
    },
  },
} satisfies Partial<Verbs>

function sheetIn({ session, names: [slug = ''] }: OwnerCall, { sheets }: DashboardParts) {
  return sheets.find(session.account, slug)
}

async function start({ session: { account } }: OwnerCall, parts: DashboardParts) {
  const [list, keys, states, activity, month] = await Promise.all([
    parts.sheets.list(account),
    parts.keys.list(account),
    Promise.all(parts.connections.all.map(({ status }) => status(account.id))),
    parts.usageFigures.activityOf(account.id),
    parts.usageFigures.thisMonth(account),
  ])
  const isAskedByClients =
    month.byKey.has('') || keys.some(({ id, lastUsedAtMs }) => lastUsedAtMs !== null || month.byKey.has(id))
  const shown = await summaries(account, list, parts)
  const firsts = [...activity.values()].flatMap(({ firstRequestAtMs }) => firstRequestAtMs ?? [])
  const view: StartView = {
    isConnected: states.some((status) => status?.state === 'connected'),
    sheets: list.length,
    keys: keys.filter((key) => isActiveAt(key, parts.clock.nowMs())).length,
    firstRequestAtMs: firsts.length === 0 || !isAskedByClients ? null : Math.min(...firsts),
    tryPath: list[0] ? pathsOf(account.slug, list[0]).formA : null,
    problems: shown.filter(({ state }) => state === 'broken' || state === 'needs_reconnect').length,
  }
  return { json: view }
}

async function isConnectionOver(
  accountId: string,
  { credentialId }: SheetRecord,
  { connections }: DashboardParts,
): Promise<boolean> {
  return credentialId !== null && (await connections.endedCredentials(accountId)).has(credentialId)
}

async function summaries(
  account: OwnerCall['session']['account'],
  list: readonly SheetRecord[],
  parts: DashboardParts,
): Promise<SheetSummary[]> {
  const [ended, activity, month] = await Promise.all([
    parts.connections.endedCredentials(account.id),
    parts.usageFigures.activityOf(account.id),
    parts.usageFigures.thisMonth(account),
  ])
  return list.map((sheet) => {
    const seen = activity.get(sheet.id)
    const failure = seen?.health?.failureReason ?? null
    const isOver = sheet.credentialId !== null && ended.has(sheet.credentialId)
    const state = stateOf(sheet, isOver, failure)
    return {
      id: sheet.id,
      slug: sheet.slug,
      title: parts.sheets.describe(sheet).words,
      provider: sheet.provider,
      state,
      stateReason: state === 'broken' ? failure : null,
      access: sheet.access,
      lastRequestAtMs: seen?.lastRequestAtMs ?? null,
      requestsThisMonth: month.bySheet.get(sheet.id) ?? 0,
      createdAtMs: sheet.createdAtMs,
    }
  })
}

/** A paused sheet is told to be paused whatever else is wrong with it (docs/contract.md#paused-sheets). */
function stateOf({ paused }: SheetRecord, isOver: boolean, failure: string | null): SheetState {
  if (paused) return 'paused'
  if (isOver) return 'needs_reconnect'
  return failure === null ? 'live' : 'broken'
}

export async function sheetView(
  { session: { account } }: OwnerCall,
  sheet: SheetRecord,
  parts: DashboardParts,
  mustAskProvider = false,
): Promise<SheetView> {
  // Before the summary: what it finds out about the sheet belongs into it.
  const isOver = await isConnectionOver(account.id, sheet, parts)
  const shape = isOver ? null : await parts.ownerReading.shape(sheet, mustAskProvider)
  const [summary] = await summaries(account, [sheet], parts)
  if (!summary) throw new Error('A sheet has no summary')
  const { access, accepts, cacheSeconds, staleIfErrorSeconds, unknownFields, keyColumn, autoKey, paused } =
    sheet
  const { historyDays, watchSeconds } = sheet
  return {
    ...summary,
    paths: pathsOf(account.slug, sheet),
    settings: {
      ...{ access, accepts, cacheSeconds, staleIfErrorSeconds, unknownFields },
      ...{
        keyColumn,
        autoKey,
        historyDays,
        watchSeconds,
        paused,
        encoding: parts.sheets.encodingOf(sheet)?.chosen ?? null,
      },
    },
    source: sourceOf(sheet, parts),
    columns: shape?.columns ?? [],
    rowCount: shape?.rowCount ?? null,
    fetchedAtMs: shape ? parts.clock.nowMs() - shape.ageSeconds * 1_000 : null,
  }
}

function pathsOf(accountSlug: string, { slug, id }: SheetRecord): SheetView['paths'] {
  return { formA: `/api/sheets/${accountSlug}/${slug}`, formB: `/v1/sheets/${id}` }
}

function sourceOf(sheet: SheetRecord, { sheets, uploads }: DashboardParts): SheetView['source'] {
  const { words, url, tab, path } = sheets.describe(sheet)
  const encodings = sheets.encodingOf(sheet)?.names ?? []
  return {
    description: words,
    url,
    tab,
    encodings,
    upload: uploads?.standingOf(sheet.accountId, path) ?? null,
  }
}

const usualRequests = 100

async function recentRequests(
  { session: { account }, query }: OwnerCall,
  sheet: SheetRecord,
  { usageFigures, keys }: DashboardParts,
): Promise<RecentRequest[]> {
  const requests = await usageFigures.recentRequests(sheet.id, limitIn(query.get('limit')))
  const names = await keys.namesOf(account.id, new Map())
  return requests.map(({ id, atMs, method, operation, status, code, rowsFrom, durationMs, keyId }) => ({
    id,
    atMs,
    method,
    operation,
    status,
    code,
    durationMs,
    cache: cacheOf(rowsFrom),
    keyName: keyId === null ? null : (names.get(keyId) ?? 'a former key'),
  }))
}

function limitIn(text: string | null): number {
  return /^[1-9][0-9]{0,2}$/.test(text ?? '') ? Number(text) : usualRequests
}

const changesTogether = 100

/** A `HistoryView`. Rows are put in as the text that they are: to parse and write them again would take as long as all the rest. */
async function history(
  { session: { account }, query }: OwnerCall,
  sheet: SheetRecord,
  { ownerReading, keys }: DashboardParts,
): Promise<{ json: RawJson } | MadeAnswer> {
  const [row, key] = [Number(query.get('row') ?? 0), query.get('key') ?? '']
  const [, seq, rowThere] = /^(\d{1,15})(?:-(\d{1,9}))?$/.exec(query.get('before') ?? '') ?? []
  const looked = await ownerReading.history(sheet, {
    of: key !== '' ? { key } : Number.isInteger(row) && row >= 2 ? { row } : null,
    place: seq === undefined ? null : { seq: Number(seq), row: rowThere ? Number(rowThere) : null },
    limit: changesTogether,
  })
  const names = await keys.namesOf(account.id, new Map())
  const { changes = [], next = null } = looked ?? {}
  const view: Omit<HistoryView, 'changes'> = {
    isKept: looked !== null,
    next: next && `${next.seq}${next.row === null ? '' : `-${next.row}`}`,
  }
  const told = changes.flatMap((past, nth) => [nth === 0 ? '' : ',', ...partsOfPast(past, names)])
  const texts = [`${JSON.stringify(view).slice(0, -1)},"changes":[`, ...told, ']}']
  if (changes.some(({ long }) => long)) return new MadeAnswer(ownerReading.inPieces(sheet, texts))
  return { json: new RawJson(texts.join('')) }
}

function partsOfPast(
  { seq, atMs, change, long }: PastChange,
  names: ReadonlyMap<string, string>,
): TextPart[] {
  const { kind, row = null } = change
  const textOf = (name: LongName) => long?.[name] ?? change[name] ?? 'null'
  const view: Omit<PastChangeView, 'key' | 'before' | 'after'> = {
    ...{ seq, atMs, kind, row },
    changed: change.changed ?? [],
    operation: change.operation ?? null,
    keyName: change.by === undefined ? null : (names.get(change.by) ?? 'a former key'),
  }
  const head = `${JSON.stringify(view).slice(0, -1)},"key":`
  return [head, textOf('key'), ',"before":', textOf('before'), ',"after":', textOf('after'), '}']
}

function cacheOf(rowsFrom: string | null): RecentRequest['cache'] {
  if (rowsFrom === null || rowsFrom === 'hit') return rowsFrom
  // `stale` tells of the copy that was there, not of the rows that were sent.
  return rowsFrom === 'miss' || rowsFrom === 'stale' ? 'miss' : 'stale'
}

/** And nothing else, which could be anything. */
function isPausing(body: unknown): boolean {
  const change = changeToMake(body as z.infer<typeof changeInput>)
  return change.paused === true && Object.keys(change).length === 1
}

/** The change without what was left out: `undefined` would be a change of its own. */
function changeToMake(change: z.infer<typeof changeInput>): SheetChangeInput {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}
