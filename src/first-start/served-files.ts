import { existsSync, readdirSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import type { Workshop } from '../assemble/workshop.ts'
import { suggestSlug } from '../management/accounts/slug.ts'
import { Problem } from '../management/problem.ts'
import type { Preview } from '../management/sheets/connecting.ts'
import type { SheetToConnect } from '../management/sheets/sheets.ts'
import { fileEndings, kindOf, locateFile } from '../providers/file/file-location.ts'

/** The account of `rowport serve <files>`. */
export const filesAccount = 'local'

export interface ServedFile {
  /** Where it is, for people: the path of a file, or a spreadsheet elsewhere by its title. */
  path: string
  slug: string
  columns: readonly string[]
  rowCount: number
}

export interface ServedFiles {
  files: ServedFile[]
  /** Those of a folder that cannot be read, and why. */
  leftOut: { path: string; why: string }[]
  /** null where the account was there before: its key was shown then. */
  apiKey: string | null
}

/** Spreadsheets elsewhere, and the file of the key that opens them; null where none is needed. */
export interface ServedLinks {
  links: readonly string[]
  keyFile: string | null
}

/** What was typed, each folder as the files in it that have rows; `from` is where it was typed. */
export function findFilesToServe(typed: readonly string[], from: string): string[] | Problem {
  const found: string[] = []
  for (const word of typed) {
    const path = resolve(from, word)
    if (!existsSync(path)) return new Problem(`there is no file or folder "${word}"`)
    if (!statSync(path).isDirectory()) {
      if (!kindOf(path)) return new Problem(`"${word}" is neither a CSV file nor a workbook (${fileEndings})`)
      found.push(path)
      continue
    }
    const inside = readdirSync(path, { withFileTypes: true }).filter(
      // The locks and copies that office programs put beside an open file begin so, and a text in a folder is rarely a table.
      (entry) => entry.isFile() && kindOf(entry.name) && !/^[.~]|\.txt$/i.test(entry.name),
    )
    if (inside.length === 0)
      return new Problem(`the folder "${word}" has no CSV file and no workbook (${fileEndings})`)
    found.push(...inside.map(({ name }) => join(path, name)).sort())
  }
  return [...new Set(found)]
}

/** Each file a sheet of one account, which is made with its key. Those that are sheets already stay what they are. */
const deletedBefore = new Problem(
  `the account "${filesAccount}" of this data folder was deleted, and its name stays taken for a while. Name another folder with --data`,
)

export async function connectFiles(
  workshop: Workshop,
  paths: readonly string[],
  links: ServedLinks = { links: [], keyFile: null },
): Promise<ServedFiles | Problem> {
  const { accounts, keys, sheets, ofOwner } = workshop
  const made = await accounts.create(filesAccount, null)
  const account = made instanceof Problem ? await accounts.find(filesAccount) : made
  if (account instanceof Problem) return deletedBefore
  const known = await sheets.list(filesAccount)
  if (known instanceof Problem) return known
  const taken = new Set(known.map(({ slug }) => slug))
  const files: ServedFile[] = []
  const leftOut: ServedFiles['leftOut'] = []
  for (const path of paths) {
    const place = { provider: 'file', ...locateFile(path, null) }
    const sheet = known.find(({ provider, location }) => provider === 'file' && location === place.location)
    const slug = sheet?.slug ?? suggestSlug(basename(path, extname(path)), taken)
    const seen = sheet
      ? await ofOwner.connecting.preview('file', {
          accountId: account.id,
          location: place.location,
          credentialId: null,
        })
      : await previewOfNew(slug, place)
    if (seen instanceof Problem) {
      leftOut.push({ path, why: seen.message })
      continue
    }
    taken.add(slug)
    files.push({ path, slug, columns: seen.columns, rowCount: seen.rowCount })
  }
  for (const link of links.links) {
    const served = await connectLink(link)
    if (served instanceof Problem) leftOut.push({ path: link, why: served.message })
    else files.push(served)
  }
  const [first] = leftOut
  if (files.length === 0 && first) return new Problem(`${first.path}: ${first.why}`)
  return { files, leftOut, apiKey: made instanceof Problem ? null : await firstKey() }

  async function connectLink(link: string): Promise<ServedFile | Problem> {
    if (account instanceof Problem) return account
    if (known instanceof Problem) return known
    const home = workshop.connections.all.find(({ words }) => new RegExp(words.linkPattern).test(link))
    if (!home) return new Problem('there is no spreadsheet that Rowport knows at this URL')
    if (links.keyFile !== null) {
      const key = await readFile(links.keyFile, 'utf8').catch(() => null)
      if (key === null) return new Problem(`there is no file "${links.keyFile}" that can be read`)
      const added = await home.addKey(account.id, key)
      if (added instanceof Problem) return added
    }
    const located = await home.spreadsheets.locate(account.id, link, null)
    if (located instanceof Problem && !home.readsPublic && (await home.status(account.id)) === null)
      return new Problem(
        'say what opens it: add "--service-account <key.json>", or "--google-api-key <key>" where anyone with the link may view it. docs/google-setup.md says how to get one',
      )
    if (located instanceof Problem) return located
    const place = { provider: home.kind.id, source: located.source, ...located.place }
    const sheet = known.find(
      ({ provider, location }) => provider === place.provider && location === place.location,
    )
    const slug = sheet?.slug ?? suggestSlug(located.title, taken)
    const seen = sheet
      ? await ofOwner.connecting.preview(place.provider, { accountId: account.id, ...located.place })
      : await previewOfNew(slug, place)
    if (seen instanceof Problem) return seen
    taken.add(slug)
    const path = home.kind.describe(place.location).words
    return { path, slug, columns: seen.columns, rowCount: seen.rowCount }
  }

  async function previewOfNew(
    sheetSlug: string,
    place: Pick<SheetToConnect, 'provider' | 'source' | 'location' | 'credentialId'>,
  ): Promise<Preview | Problem> {
    if (account instanceof Problem) return account
    const connected = await ofOwner.connecting.connect({
      account,
      sheetSlug,
      access: 'private',
      isByOperator: true,
      ...place,
    })
    return connected instanceof Problem ? connected : connected.preview
  }

  async function firstKey(): Promise<string | null> {
    const key = await keys.create({
      accountSlug: filesAccount,
      sheetSlug: null,
      name: 'first key',
      mode: 'live',
      scope: 'read-write',
    })
    return key instanceof Problem ? null : key.value
  }
}
