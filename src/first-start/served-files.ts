import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import type { Workshop } from '../assemble/workshop.ts'
import { suggestSlug } from '../management/accounts/slug.ts'
import { Problem } from '../management/problem.ts'
import type { Preview } from '../management/sheets/connecting.ts'
import { kindOf, locateFile } from '../providers/file/file-location.ts'

/** The account of `rowport serve <files>`. */
export const filesAccount = 'local'

export interface ServedFile {
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

/** What was typed, each folder as the files in it that have rows; `from` is where it was typed. */
export function findFilesToServe(typed: readonly string[], from: string): string[] | Problem {
  const found: string[] = []
  for (const word of typed) {
    const path = resolve(from, word)
    if (!existsSync(path)) return new Problem(`there is no file or folder "${word}"`)
    if (!statSync(path).isDirectory()) {
      if (!kindOf(path)) return new Problem(`"${word}" is neither a CSV file nor a workbook (${endings})`)
      found.push(path)
      continue
    }
    const inside = readdirSync(path, { withFileTypes: true }).filter(
      // The locks and copies that office programs put beside an open file begin so, and a text in a folder is rarely a table.
      (entry) => entry.isFile() && kindOf(entry.name) && !/^[.~]|\.txt$/i.test(entry.name),
    )
    if (inside.length === 0)
      return new Problem(`the folder "${word}" has no CSV file and no workbook (${endings})`)
    found.push(...inside.map(({ name }) => join(path, name)).sort())
  }
  return [...new Set(found)]
}

const endings = '.csv, .tsv, .xlsx, .ods'

/** Each file a sheet of one account, which is made with its key. Those that are sheets already stay what they are. */
export async function connectFiles(
  workshop: Workshop,
  paths: readonly string[],
): Promise<ServedFiles | Problem> {
  const { accounts, keys, sheets, ofOwner } = workshop
  const made = await accounts.create(filesAccount, null)
  const account = made instanceof Problem ? await accounts.find(filesAccount) : made
  if (account instanceof Problem) return account
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
  const [first] = leftOut
  if (files.length === 0 && first) return new Problem(`${first.path}: ${first.why}`)
  return { files, leftOut, apiKey: made instanceof Problem ? null : await firstKey() }

  async function previewOfNew(
    sheetSlug: string,
    place: ReturnType<typeof locateFile> & { provider: string },
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
