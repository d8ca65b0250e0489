import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openWorkshop } from '../../src/assemble/open-workshop.ts'
import { systemClock } from '../../src/clock.ts'
import { parseConfig } from '../../src/config.ts'
import { locateFile } from '../../src/providers/file/file-location.ts'
import { buildWorkbook, escapeXml } from '../../src/providers/file/xlsx/workbook.fixture.ts'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import { startGoogleProcess } from '../google/google-process.ts'
import { done } from '../harness.ts'
import { freshPlace, type RunningServer } from '../process/running.ts'
import { connectOwner, googleClient, owner } from '../writing/google-ground.ts'

export const slugs = ['csv', 'xlsx', 'google'] as const
export type Slug = (typeof slugs)[number]

export interface ThreeSheets {
  server: RunningServer
  apiKey: string
}

type Cell = string | number

/**
 * Rowport as an operator runs it, on a CSV file, a workbook and a spreadsheet at a local Google with its real rations. `installed`:
 * the command of a package, else it is the clone's.
 */
export async function startThreeSheets(
  t: { after(work: () => Promise<void>): void },
  {
    rows,
    env = {},
    installed,
  }: { rows: number; env?: Record<string, string>; installed?: string | undefined },
): Promise<ThreeSheets> {
  const google = await startGoogleProcess(t, { quotas: true })
  const place = await freshPlace(t, installed)
  const settings = {
    GOOGLE_CLIENT_ID: googleClient.clientId,
    GOOGLE_CLIENT_SECRET: googleClient.clientSecret,
    GOOGLE_SCOPE: googleClient.scope,
    GOOGLE_ENDPOINT: google.url,
    ...env,
  }
  const table = tableOf(rows)
  const csvPath = join(place.folder, 'items.csv')
  const xlsxPath = join(place.folder, 'items.xlsx')
  await writeFile(csvPath, table.map((row) => `${row.join(',')}\n`).join(''))
  await writeFile(xlsxPath, buildWorkbook({ rows: table.map(rowXml).join('') }))
  const { spreadsheetId, refreshToken } = await google.newSpreadsheet(owner, table)

  const config = parseConfig({ ROWPORT_DATA: place.dataFolder, ...settings }, true)
  if ('problems' in config) throw new Error(config.problems.join('; '))
  const { store, sealing, accounts, sheets, keys, close } = await openWorkshop(config, systemClock, () => {})
  const account = done(await accounts.create('acme', 'enterprise'))
  const credentialId = await connectOwner(store, sealing, account.id, refreshToken)
  const places = {
    csv: { provider: 'file', ...locateFile(csvPath, null) },
    xlsx: { provider: 'file', ...locateFile(xlsxPath, null) },
    google: { provider: 'google', credentialId, ...locateGoogleTab({ spreadsheetId, tabId: 0 }) },
  } as const
  for (const sheetSlug of slugs) {
    done(
      await sheets.connect({
        accountSlug: 'acme',
        sheetSlug,
        access: 'private',
        ...places[sheetSlug],
      }),
    )
  }
  const wish = {
    accountSlug: 'acme',
    sheetSlug: null,
    name: 'soak',
    mode: 'live',
    scope: 'read-write',
  } as const
  const { value: apiKey } = done(await keys.create(wish))
  await close()
  return { server: await place.start({ env: settings }), apiKey }
}

function tableOf(rows: number): Cell[][] {
  const names = ['name', 'category', 'price', 'stock', 'day', 'note']
  const row = (n: number) => [
    `Item ${n}`,
    `Category ${n % 7}`,
    ((n * 7_919) % 10_000) / 100,
    n % 11,
    `2026-11-${10 + (n % 20)}`,
    `Some words about number ${n}`,
  ]
  return [names, ...Array.from({ length: rows }, (_, n) => row(n))]
}

function rowXml(cells: readonly Cell[], at: number): string {
  const xml = cells.map((cell, column) => {
    const reference = `${String.fromCharCode(65 + column)}${at + 1}`
    return typeof cell === 'number'
      ? `<c r="${reference}"><v>${cell}</v></c>`
      : `<c r="${reference}" t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`
  })
  return `<row r="${at + 1}">${xml.join('')}</row>`
}
