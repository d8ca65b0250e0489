import { readFile } from 'node:fs/promises'
import { Problem } from '../management/problem.ts'
import { typeNameOf } from '../sheets/rows/schema/row-types.ts'
import type { BareCommand, CommandOutcome } from './command.ts'
import { readTypesFile, whatNoLongerFits } from './types-file.ts'

/**
 * The TypeScript of a sheet, or of all sheets that a key may read, asked of the server like any client does: it needs no more than an
 * address and a key.
 */
export const typesCommand: BareCommand = {
  words: ['types'],
  usage: 'types <url> [--key <key>] [--check <file>]',
  positionals: ['<address>'],
  options: ['key', 'check'],
  async runBare(env, [address = ''], { key = env.ROWPORT_KEY, check }) {
    const text = await typesAt(address, key)
    if (text instanceof Problem) return text
    if (check === undefined) return { hasFailed: false, json: { types: text }, text: text.trimEnd() }
    return checkTypesFile(check, text)
  },
}

const ofOneSheet = /\/(?:api\/sheets\/[^/]+|v1\/sheets)\/[^/]+$/

async function typesAt(address: string, key: string | undefined): Promise<string | Problem> {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol))
    return new Problem(
      `"${address}" is not the URL of a sheet, such as https://…/api/sheets/demo/products, or of a server.`,
    )
  const path = url.pathname.replace(/\/(?:types\.ts)?$/, '')
  const base = url.origin + path
  if (ofOneSheet.test(path)) return get(`${base}/types.ts`, key)
  const listed = await get(`${base}/v1/sheets`, key)
  if (listed instanceof Problem) return listed
  const { data } = JSON.parse(listed) as { data: { slug: string; url: string }[] }
  if (data.length === 0) return new Problem('there is no sheet that this key may read')
  const texts: string[] = []
  for (const { slug, url: sheetPath } of data) {
    const text = await get(`${base}${sheetPath}/types.ts`, key)
    if (text instanceof Problem) return new Problem(`${slug}: ${text.message}`)
    texts.push(text.replace('export interface Sheet {', `export interface ${typeNameOf(slug)} {`))
  }
  return together(
    texts,
    data.map(({ slug }) => slug),
  )
}

/** What stands above the sheet's own types is the same for all. */
function together(texts: readonly string[], slugs: readonly string[]): string {
  const [madeBy, namedTypes] = texts[0]?.split('\n\n') ?? []
  const sheets = texts.map((text) => text.trimEnd().split('\n\n').slice(2).join('\n\n'))
  const members = slugs.map((slug) => `  ${JSON.stringify(slug)}: ${typeNameOf(slug)}`)
  const all = [
    '/** All of them, by the names in their addresses. */',
    'export interface Sheets {',
    ...members,
    '}',
  ]
  return `${[madeBy, namedTypes, ...sheets, all.join('\n')].join('\n\n')}\n`
}

async function get(url: string, key: string | undefined): Promise<string | Problem> {
  const headers: Record<string, string> = { Accept: 'text/plain, application/json' }
  if (key !== undefined) headers.Authorization = `Bearer ${key}`
  const answer = await fetch(url, { headers }).catch((error: Error) => error)
  if (answer instanceof Error) return new Problem(`${url} cannot be reached: ${reasonIn(answer)}`)
  const text = await answer.text()
  if (answer.ok && /^(?:application\/json|text\/plain)/.test(answer.headers.get('content-type') ?? ''))
    return text
  const hint = answer.status === 401 ? ' Give one with --key, or as ROWPORT_KEY.' : ''
  return new Problem(`${url} returned ${answer.status}: ${messageIn(text)}${hint}`)
}

function reasonIn({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}

/** The error may have either form; what Rowport did not send is not shown. */
function messageIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: string | { message: string } }
    return typeof error === 'string' ? error : (error?.message ?? 'no types')
  } catch {
    return 'this is not a Rowport server'
  }
}

async function checkTypesFile(
  file: string,
  text: string,
): Promise<(CommandOutcome & { hasFailed: boolean }) | Problem> {
  const then = await readFile(file, 'utf8').catch(() => null)
  if (then === null) return new Problem(`${file} cannot be read`)
  const sheetsThen = readTypesFile(then)
  const sheetsNow = readTypesFile(text)
  if (sheetsThen.size === 0) return new Problem(`${file} has no types that Rowport made`)
  const isOne = sheetsThen.size === 1 && sheetsNow.size === 1
  const problems = [...sheetsThen].flatMap(([name, types]) => {
    const now = isOne ? [...sheetsNow.values()][0] : sheetsNow.get(name)
    const found = now ? whatNoLongerFits(types, now) : ['This sheet no longer exists.']
    return found.map((problem) => `${name}: ${problem}`)
  })
  const isFit = problems.length === 0
  const words = isFit ? [`${file} fits.`] : [...problems, `${file} no longer fits. Create it again.`]
  return { hasFailed: !isFit, json: { fits: isFit, problems }, text: words.join('\n') }
}
