import { z } from 'zod'
import { suggestSlug } from '../../management/accounts/slug.ts'
import { sentence } from '../../management/people/owners.ts'
import { Problem } from '../../management/problem.ts'
import type { SheetToConnect } from '../../management/sheets/sheets.ts'
import type { PreviewView } from '../contract.ts'
import type { DashboardParts } from '../dashboard-parts.ts'
import { noFiles } from './file-verbs.ts'
import { type OwnerCall, RawJson, type Verbs, withInput } from './route.ts'
import { sheetView } from './sheet-verbs.ts'

const fileInput = z.strictObject({
  provider: z.literal('file'),
  path: z.string().max(300),
  tab: z.string().max(200).nullable(),
})
const connectedInput = z.strictObject({
  provider: z.string().max(40),
  spreadsheetId: z.string().max(200),
  tabId: z.int().min(0),
})
const sourceInput = z.union([fileInput, connectedInput])
const connectInput = z.strictObject({
  slug: z.string('Choose a name.').max(100),
  access: z.enum(['private', 'public-read']),
  source: sourceInput,
})

type Source = z.infer<typeof sourceInput>

/** The verbs that make a sheet of a spreadsheet or a file. */
export const connectVerbs = {
  'GET /slug-check': {
    async owner({ session, query }, { sheets }) {
      const problem = await sheets.problemWithNewSlug(session.account, query.get('slug') ?? '')
      return { json: { problem: problem && sentence(problem.message) } }
    },
  },
  'POST /preview': {
    ...withInput(sourceInput, async (call, source, parts) => {
      const located = await locate(call, source, parts)
      if (located instanceof Problem) return located
      const { provider, location, credentialId = null } = located.place
      const { id: accountId } = call.session.account
      const place = { accountId, location, credentialId }
      const seen = await parts.connecting.preview(provider, place, call.left)
      if (seen instanceof Problem) return seen
      const taken = new Set((await parts.sheets.list(call.session.account)).map(({ slug }) => slug))
      const { columns, columnTypes, columnIndexes, rowCount, firstRowsJson } = seen
      const view: Omit<PreviewView, 'rows'> = {
        suggestedSlug: suggestSlug(located.title.replace(/\.(?:csv|tsv|txt|xlsx|xlsm)$/i, ''), taken),
        title: located.title,
        columns: columns.map((name, at) => ({ name, type: columnTypes[at] ?? 'string' })),
        notes: notesOn(columns, columnIndexes),
        rowCount,
      }
      // The rows as they are: an object would put keys that look like numbers first.
      const head = JSON.stringify(view).slice(0, -1)
      return { json: new RawJson(`${head},"rows":[${firstRowsJson.join(',')}]}`) }
    }),
  },
  'POST /sheets': {
    ...withInput(connectInput, async (call, { slug, access, source }, parts) => {
      const { account } = call.session
      const problem = await parts.sheets.problemWithNewSlug(account, slug)
      if (problem) return problem
      const located = await locate(call, source, parts)
      if (located instanceof Problem) return located
      const wish = { account, sheetSlug: slug, access, ...located.place }
      const connected = await parts.connecting.connect(wish, call.left)
      if (connected instanceof Problem) return connected
      return { json: await sheetView(call, connected.sheet, parts), status: 201 }
    }),
  },
} satisfies Partial<Verbs>

/** Columns without a header, and headers that were there before: both would be looked for in vain. */
function notesOn(columns: readonly string[], indexes: readonly number[]): string[] {
  const named = new Set(indexes)
  const last = indexes.at(-1) ?? 0
  const nameless = Array.from({ length: last }, (_, at) => at).filter((at) => !named.has(at))
  const shown = nameless.slice(0, shownNotes).map(columnLetters)
  const more = nameless.length > shownNotes ? ` and ${nameless.length - shownNotes} more` : ''
  const isOne = nameless.length === 1
  const names = new Set(columns)
  const repeated = columns.flatMap((name) => {
    const first = /^(.+)_[2-9]\d*$/.exec(name)?.[1]
    return first !== undefined && names.has(first)
      ? [`A repeated header “${first}” is served as “${name}”.`]
      : []
  })
  return [
    ...(nameless.length === 0
      ? []
      : [
          `Column${isOne ? '' : 's'} ${shown.join(', ')}${more} ${isOne ? 'has' : 'have'} no header and ${isOne ? 'isn’t' : 'aren’t'} served.`,
        ]),
    ...repeated.slice(0, shownNotes),
  ]
}

const shownNotes = 5

/** 0 → A, 26 → AA. */
function columnLetters(index: number): string {
  const rest = Math.floor(index / 26) - 1
  return (rest < 0 ? '' : columnLetters(rest)) + String.fromCharCode(65 + (index % 26))
}

type Located = {
  title: string
  place: Pick<SheetToConnect, 'provider' | 'source' | 'location' | 'credentialId'>
}

/** Always through the account's own access, and in its own folder. */
async function locate(
  { session: { account } }: OwnerCall,
  source: Source,
  { connections, uploads }: DashboardParts,
): Promise<Located | Problem> {
  if ('path' in source) {
    if (!uploads) return noFiles
    const place = await uploads.locate(account.id, source.path, source.tab)
    return place instanceof Problem ? place : { title: source.path, place: { provider: 'file', ...place } }
  }
  const connection = connections.find(source.provider)
  if (!connection) return new Problem('There is no such source of sheets.', { field: 'provider' })
  const located = await connection.spreadsheets.locate(account.id, source.spreadsheetId, source.tabId)
  if (located instanceof Problem) return located
  return {
    title: located.title,
    place: { provider: connection.kind.id, source: located.source, ...located.place },
  }
}
