import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import packageJson from '../../package.json' with { type: 'json' }
import { cli } from '../cli.ts'
import { encodeSingleByte } from '../providers/file/csv/encoding/single-byte.ts'
import { commands } from './all-commands.ts'

const folder = await mkdtemp(join(tmpdir(), 'rowport-commands-'))
after(() => rm(folder, { recursive: true }))
const products = join(folder, 'products.csv')
await writeFile(products, 'name,price\nOak table,420\nLamp,59.9\n')
const workbook = join(import.meta.dirname, '../providers/file/xlsx/fixtures/openpyxl.xlsx')

test('what was typed wrong is said in a sentence, with how it is typed right', async () => {
  const cases: [string, RegExp][] = [
    ['frobnicate', /^rowport: there is no command "frobnicate"\.\nAll commands: rowport help\n$/],
    [
      'package.json',
      /^rowport: there is no command "package\.json"\. To serve it: rowport serve package\.json\nAll commands: rowport help\n$/,
    ],
    [
      'account',
      /^rowport: there is no command "account"\n\nUsage:\n {2}rowport account create .*\n.* list\n.* delete .*\n.* plan .*\n.* link .*\n$/,
    ],
    [
      'key frob x',
      /^rowport: there is no command "key frob"\n\nUsage:\n(?: {2}rowport key .*\n(?: {4}.*\n)*){7}$/,
    ],
    ['serve now', /^rowport: there is no file or folder "now"\n/],
    ['account create', /^rowport: <slug> is missing\.\n\nUsage:\n {2}rowport account create <slug>/],
    ['account plan acme', /^rowport: <plan> is missing\./],
    ['sheet pause', /^rowport: <account>\/<sheet> is missing\./],
    ['key revoke', /^rowport: <key id> is missing\./],
    ['key create acme --name my laptop', /^rowport: Unexpected argument "laptop". Quote values/],
    ['account create acme --plna pro', /^rowport: There is no option --plna here\.\n\nUsage:/],
    ['sheet list acme -x', /^rowport: There is no option -x here\./],
    [
      'sheet connect acme/stock --file a.csv --google b',
      /^rowport: Name the spreadsheet with --file or with/,
    ],
    ['key create acme', /^rowport: A key needs a --name\./],
    ['key create acme --name', /^rowport: --name needs a value\./],
    ['key create acme --name --json', /^rowport: --name needs a value\./],
    ['key list acme --json=yes', /^rowport: --json takes no value\./],
    ['key create acme --name x --mode prod', /^rowport: --mode is live or test, not "prod"\./],
    ['key create acme --name x --scope write', /^rowport: --scope is read or read-write, not "write"\./],
    ['sheet connect acme/stock', /^rowport: Name the spreadsheet with --file or with --google\./],
    ['sheet connect stock --file x.csv', /^rowport: "stock" is not <account>\/<sheet>\./],
    ['sheet resume acme/stock/2', /^rowport: "acme\/stock\/2" is not <account>\/<sheet>\./],
    [
      `sheet connect acme/stock --file ${products} --access open`,
      /^rowport: --access is private or public-read/,
    ],
    [
      `sheet connect acme/stock --file ${products} --encoding ebcdic`,
      /^rowport: --encoding is windows-1250 or .*, not "ebcdic"\./,
    ],
    ['sheet connect acme/stock --google b --encoding koi8-r', /^rowport: --encoding is for a CSV file\./],
    ['sheet set acme/stock', /^rowport: Name at least one setting\./],
    ['sheet set acme/stock --cache-seconds soon', /^rowport: --cache-seconds must be a whole number/],
    ['key scope key_x write', /^rowport: The scope is read or read-write, not "write"\./],
    ['account plan acme pro --per-minute 0', /^rowport: --per-minute must be a whole number from 1 to/],
    ['account plan acme pro --per-month 1e3', /^rowport: --per-month must be a whole number from 1 to/],
  ]
  const data = freshData()
  await succeeds(data, 'account create somebody')
  for (const [line, said] of cases) await assertFails(data, line, said)
})

test('what cannot be done is said in a sentence', async () => {
  const data = freshData()
  await succeeds(data, 'account create acme')
  await succeeds(data, `sheet connect acme/stock --file ${products}`)
  const { id } = JSON.parse(await succeeds(data, 'key create acme --name laptop --json')) as { id: string }
  await succeeds(data, `key revoke ${id}`)

  const notSheets = join(folder, 'notes.md')
  await writeFile(notSheets, '# Notes')
  const foreign = join(folder, 'foreign.xlsx')
  await writeFile(foreign, 'This is no workbook.')
  const headless = join(folder, 'headless.csv')
  await writeFile(headless, ',,\n1,2,3\n')
  const folderLike = join(folder, 'folder.csv')
  await mkdir(folderLike)

  const cases: [string, RegExp][] = [
    ['account create acme', /^rowport: the account name "acme" is taken\n$/],
    [
      'account create Acme',
      /^rowport: use lowercase letters, numbers and single hyphens \(63 characters max\); try "acme"\n$/,
    ],
    ['account create acme-', /^rowport: use lowercase letters/],
    [`account create ${'a'.repeat(64)}`, /63 characters max\); try "a+"\n$/],
    [
      'account create beta --plan gold',
      /^rowport: there is no plan "gold"; the plans are free, pro, business,/,
    ],
    ['account plan acme gold', /^rowport: there is no plan "gold"/],
    ['account plan nobody pro', /^rowport: there is no account "nobody"\n$/],
    ['sheet list nobody', /^rowport: there is no account "nobody"\n$/],
    ['key list nobody', /^rowport: there is no account "nobody"\n$/],
    ['account link nobody', /^rowport: there is no account "nobody"\n$/],
    ['google status nobody', /^rowport: there is no account "nobody"\n$/],
    ['google service-account add nobody gone.json', /^rowport: there is no account "nobody"\n$/],
    [
      'google service-account add acme gone.json',
      /^rowport: there is no file ".*gone\.json" that can be read\n$/,
    ],
    ['google disconnect nobody', /^rowport: there is no account "nobody"\n$/],
    ['google disconnect acme', /^rowport: Google is not connected\n$/],
    [
      'sheet connect acme/x --google abc',
      /^rowport: account "acme" is not connected to Google yet; the owner does that in the dashboard/,
    ],
    ['sheet connect nobody/x --google abc', /^rowport: there is no account "nobody"\n$/],
    ['key create nobody --name x', /^rowport: there is no account "nobody"\n$/],
    ['key create acme --name x --sheet none', /^rowport: there is no sheet "acme\/none"\n$/],
    ['sheet pause acme/none', /^rowport: there is no sheet "acme\/none"\n$/],
    ['sheet rename acme/none other', /^rowport: there is no sheet "acme\/none"\n$/],
    ['sheet rename acme/stock Lamp!', /^rowport: use lowercase letters/],
    ['key revoke key_none', /^rowport: there is no key with the id "key_none"\n$/],
    [`key revoke ${id}`, /^rowport: the key "key_\w+" is revoked; a revoked key stays revoked\n$/],
    [`key regenerate ${id}`, /^rowport: the key "key_\w+" is revoked/],
    [`sheet connect acme/stock --file ${products}`, /^rowport: there is already a sheet "acme\/stock"\n$/],
    [`sheet connect nobody/stock --file ${products}`, /^rowport: there is no account "nobody"\n$/],
    [`sheet connect acme/Stock --file ${products}`, /^rowport: use lowercase letters/],
    ['sheet connect acme/x --file nowhere.csv', /^rowport: there is no file "\/.*\/nowhere\.csv"\n$/],
    [`sheet connect acme/x --file ${notSheets}`, /notes\.md" is neither a CSV file nor a workbook/],
    [`sheet connect acme/x --file ${foreign}`, /^rowport: .*not an? .*\n$/],
    [
      `sheet connect acme/x --file ${headless}`,
      /^rowport: row 1 has no headers; put a name above each column\n$/,
    ],
    [`sheet connect acme/x --file ${folderLike}`, /^rowport: the path is a folder, not a file\n$/],
    [
      `sheet connect acme/x --file ${workbook} --tab None`,
      /^rowport: .*no tab named "None"; its tabs are "Orders"/,
    ],
    [
      `sheet connect acme/x --file ${products} --tab One`,
      /^rowport: a CSV file has no tabs; leave --tab out\n$/,
    ],
    [`sheet connect acme/x --file ${workbook} --encoding windows-1250`, /leave --encoding out\n$/],
  ]
  for (const [line, said] of cases) await assertFails(data, line, said)
  for (const name of ['', '  ', 'x'.repeat(101), 'two\nlines']) {
    const { code, stderr } = await run(data, ['key', 'create', 'acme', '--name', name])
    assert.equal(code, 1)
    assert.equal(stderr, 'rowport: a key needs a name of 1 to 100 characters on one line\n')
  }
  assert.equal(await succeeds(data, 'sheet list acme --json').then((text) => JSON.parse(text).length), 1)
  assert.equal(await succeeds(data, 'key list acme --json').then((text) => JSON.parse(text).length), 1)
})

test('accounts are listed, and deleted once their name is typed again', async () => {
  const data = freshData()
  await assertFails(data, 'account list', /^rowport: there is no store in \S+data-\d+\. Is ROWPORT_DATA set/)
  assert.equal(existsSync(data.ROWPORT_DATA ?? ''), false, 'nothing is made by looking')
  await succeeds(data, 'account create acme')
  await succeeds(data, 'account create shop --plan pro')
  await succeeds(data, `sheet connect acme/stock --file ${products}`)
  assert.match(
    await succeeds(data, 'account list'),
    /^account {2}plan +sheets {2}id +created\nacme +unlimited {2}1 +acc_\w+ +\d{4}-\d\d-\d\d\nshop +pro +0 /,
  )
  await assertFails(data, 'account delete acme', /add --confirm acme\.\n\nUsage:\n {2}rowport account delete/)
  await assertFails(data, 'account delete acme --confirm shop', /add --confirm acme\./)
  await assertFails(data, 'account delete nobody --confirm nobody', /there is no account "nobody"/)
  assert.equal(await succeeds(data, 'account delete acme --confirm acme'), 'Deleted account acme.\n')
  assert.deepEqual(
    JSON.parse(await succeeds(data, 'account list --json')).map(
      ({ slug, sheets }: { slug: string; sheets: number }) => [slug, sheets],
    ),
    [['shop', 0]],
  )
  await succeeds(data, 'account delete shop --confirm shop')
  assert.equal(await succeeds(data, 'account list'), 'No accounts yet.\n')
})

test('what a person reads', async () => {
  const data = freshData()
  assert.equal(await succeeds(data, 'account create acme'), 'Created account acme on the unlimited plan.\n')
  assert.equal(
    await succeeds(data, 'account plan acme enterprise --per-minute 10 --per-month 2000'),
    'acme is now on the enterprise plan, with a custom limit of 10 requests/minute and 2000 requests/month.\n',
  )
  assert.equal(await succeeds(data, 'sheet list acme'), 'No sheets in acme yet.\n')
  assert.equal(await succeeds(data, 'key list acme'), 'No keys in acme yet.\n')

  assert.equal(
    await succeeds(data, 'google status acme'),
    'Account acme is not connected to Google. For a link to connect it: rowport account link acme\n',
  )
  assert.match(
    await succeeds(data, 'account link acme'),
    /^This link signs you in to acme\. It works once and expires in 15 minutes:\n\n {2}http:\/\/localhost:8787\/sign-in-link\?token=[\w-]{43}\n\n$/,
  )

  assert.match(
    await succeeds(data, `sheet connect acme/stock --file ${products}`),
    /^Sheet acme\/stock connected: 2 columns, 2 rows\.\n {2}\/api\/sheets\/acme\/stock\n {2}\/v1\/sheets\/sh_\w{22}\n$/,
  )
  await succeeds(data, `sheet connect acme/words --file ${workbook} --tab Wörter --access public-read`)
  await succeeds(data, 'sheet pause acme/words')
  assert.equal(
    await succeeds(data, 'sheet rename acme/words terms'),
    'Renamed acme/words to acme/terms. URLs by ID and keys keep working.\n',
  )
  assert.match(await succeeds(data, 'sheet list acme'), /^terms +paused/m)
  await succeeds(data, 'sheet rename acme/terms words')
  const latin = join(folder, 'latin.csv')
  await writeFile(latin, encodeSingleByte('prénom,ville\nZoë,Genève\n', 'windows-1252'))
  await succeeds(data, `sheet connect acme/latin --file ${latin}`)
  const cyrillic = join(folder, 'cyrillic.csv')
  await writeFile(cyrillic, encodeSingleByte('имя,город\nАнна,Москва\n', 'windows-1251'))
  assert.match(
    await succeeds(data, `sheet connect acme/cyrillic --file ${cyrillic} --encoding windows-1251`),
    /connected: 2 columns, 1 row\./,
  )
  await assertFails(
    data,
    'sheet set acme/cyrillic --encoding ebcdic',
    /^rowport: "cyrillic" can be in windows-1250/,
  )
  await assertFails(
    data,
    'sheet set acme/words --encoding koi8-r',
    /^rowport: "words" says itself what it is in\n$/,
  )
  for (const [chosen, encoding] of [
    ['KOI8-R', { encoding: 'koi8-r' }],
    ['auto', {}],
    ['cp1251', { encoding: 'windows-1251' }],
  ] as const) {
    const text = await succeeds(data, `sheet set acme/latin --encoding ${chosen} --json`)
    assert.deepEqual(JSON.parse(text).location, { path: latin, ...encoding })
  }
  const sheets = await succeeds(data, 'sheet list acme')
  // As people spell them; UTF-8 is told by its bytes.
  for (const label of ['CP1251', 'Latin1', 'ISO-8859-1', 'UTF-8', 'utf8']) {
    const file = /utf/i.test(label) ? products : cyrillic
    const spelt = `acme/spelt-${label.toLowerCase()}`
    await succeeds(data, `sheet connect ${spelt} --file ${file} --encoding ${label}`)
  }
  assert.match(
    sheets,
    /^SHEET +STATE +ACCESS +ID +SPREADSHEET\n(?:cyrillic .+\n)?(?:latin .+\n)?stock +live +private +sh_\w+ +\/\S+products\.csv\nwords +paused +public-read +sh_\w+ +\/\S+openpyxl\.xlsx\n$/,
  )

  assert.match(
    await succeeds(data, 'key create acme --name laptop --sheet stock'),
    /^Key "laptop" \(read\), id key_\w{22}\. Save it now\. It won't be shown again:\n\n {2}sk_live_\w{32}\n\n$/,
  )
  const text = await succeeds(data, 'key create acme --name CI --mode test --scope read-write')
  const [value = ''] = /sk_test_\w{32}/.exec(text) ?? []
  const keys = await succeeds(data, 'key list acme')
  const lines = keys.trimEnd().split('\n')
  assert.match(lines[0] ?? '', /^KEY +NAME +SCOPE +ACCESS +CREATED +LAST USED +STATE +ID$/)
  assert.match(
    lines[1] ?? '',
    /^sk_live_\w{4}…\w{4} +laptop +read +stock +[\d-]{10} +never +active +key_\w+$/,
  )
  assert.match(
    lines[2] ?? '',
    /^sk_test_\w{4}…\w{4} +CI +read-write +all sheets +[\d-]{10} +never +active +key_\w+$/,
  )
  assert.ok(!keys.includes(value))
})

test('what a program reads with --json: one value, names in one style, a secret only where it was just made', async () => {
  const data = freshData()
  const json = async (line: string) => JSON.parse(await succeeds(data, `${line} --json`)) as unknown
  const account = (await json('account create acme --plan pro')) as Record<string, unknown>
  assert.match(String(account.id), /^acc_\w{22}$/)
  assert.ok(!Number.isNaN(Date.parse(String(account.created_at))))
  assert.deepEqual(
    { ...account, id: '', created_at: '' },
    {
      id: '',
      slug: 'acme',
      plan: 'pro',
      requests_per_minute: null,
      requests_per_month: null,
      created_at: '',
    },
  )
  const planned = (await json('account plan acme pro --per-minute 5')) as Record<string, unknown>
  assert.deepEqual(planned, { ...account, requests_per_minute: 5 })

  const link = (await json('account link acme')) as { url: string; expires_at: string }
  assert.match(link.url, /\/sign-in-link\?token=[\w-]{43}$/)
  assert.ok(Date.parse(link.expires_at) > Date.now())
  assert.deepEqual(await json('google status acme'), { connected: false, google_account: null })

  const sheet = (await json(`sheet connect acme/words --file ${workbook} --tab Wörter`)) as { id: string }
  assert.deepEqual(sheet, {
    id: sheet.id,
    slug: 'words',
    provider: 'file',
    access: 'private',
    accepts: 'both',
    paused: false,
    cache_seconds: 10,
    stale_if_error_seconds: 0,
    unknown_fields: 'reject',
    key_column: null,
    auto_key: 'none',
    history_days: 7,
    watch_seconds: 0,
    location: { path: workbook, tab: 'Wörter' },
  })
  const set = {
    access: 'public-read',
    accepts: 'live',
    cache_seconds: 0,
    unknown_fields: 'ignore',
    watch_seconds: 30,
  }
  const options =
    '--access public-read --accepts live --cache-seconds 0 --unknown-fields ignore --watch-seconds 30'
  assert.deepEqual(await json(`sheet set acme/words ${options}`), { ...sheet, ...set })
  const back = '--access private --accepts both --cache-seconds 10 --unknown-fields reject --watch-seconds 0'
  assert.deepEqual(await json(`sheet set acme/words ${back}`), sheet)
  assert.deepEqual(await json('sheet pause acme/words'), { ...sheet, paused: true })
  assert.deepEqual(await json('sheet list acme'), [{ ...sheet, paused: true, state: 'paused' }])

  const made = (await json('key create acme --name laptop --sheet words')) as Record<string, unknown>
  const { key, ...listed } = made
  assert.match(String(key), /^sk_live_\w{32}$/)
  assert.deepEqual(Object.keys(listed), [
    'id',
    'name',
    'mode',
    'scope',
    'sheet_id',
    'shown',
    'created_at',
    'last_used_at',
    'revoked_at',
  ])
  assert.equal(listed.sheet_id, sheet.id)
  assert.deepEqual(await json('key list acme'), [listed])
  assert.deepEqual(await json(`key scope ${listed.id} read-write`), { ...listed, scope: 'read-write' })
  assert.deepEqual(await json(`key revoke ${listed.id}`), { id: listed.id, revoked: true })
})

test('a relative path is meant from the folder in which the command was typed', async () => {
  const data = freshData()
  await succeeds(data, 'account create acme')
  const folder = dirname(products)
  const typedThere = { ...data, INIT_CWD: folder }
  await succeeds(typedThere, `sheet connect acme/there --file ${basename(products)}`)
  const missing = await run(data, ['sheet', 'connect', 'acme/here', '--file', basename(products)])
  assert.equal(missing.stderr, `rowport: there is no file "${resolve(basename(products))}"\n`)
})

test('whoever works in a folder without a store is told that it was made', async () => {
  const data = freshData()
  const first = await run(data, ['account', 'create', 'acme'])
  assert.equal(first.code, 0)
  assert.match(
    first.stderr,
    /there was no store in .*, so a new one was made\. Is ROWPORT_DATA set as for the server\?\n$/,
  )
  assert.equal((await run(data, ['account', 'create', 'other'])).stderr, '')
})

test('its version', async () => {
  for (const word of ['--version', '-v', 'version'])
    assert.equal(await succeeds({}, word), `${packageJson.version}\n`)
})

test('help: all commands, or the one that was begun', async () => {
  const data = freshData()
  const all = await succeeds(data, '--help')
  for (const { usage } of commands) assert.ok(all.includes(`\n  rowport ${usage}\n`), usage)
  assert.match(all, /\n {2}rowport serve \[<files or a folder>\] \[--data <folder>\] \[--port <n>\]\n/)
  assert.ok(
    all.split('\n').every((line) => line.length <= 110),
    'no line too long for a terminal',
  )
  for (const line of ['help', '-h', 'key --help']) assert.equal(await succeeds(data, line), all)
  assert.equal(
    await succeeds(data, 'sheet pause --help'),
    'Usage:\n  rowport sheet pause <account>/<sheet>\n',
  )

  const nothing = await run(data, [])
  assert.deepEqual(nothing, { code: 1, stdout: '', stderr: all })
})

test('wrong settings stop a command too, all listed', async () => {
  const failed = await run({ ...freshData(), PORT: 'x', HOST: '', REDIS_URL: 'http://h' }, [
    'key',
    'list',
    'acme',
  ])
  assert.deepEqual(failed, {
    code: 1,
    stdout: '',
    stderr:
      'rowport: these settings are wrong:\n  PORT: must be a whole number from 0 to 65535\n' +
      '  REDIS_URL: must be a URL such as redis://host:6379\n',
  })
})

test('a store that does not work is told in a sentence with its folder, and without a stack', async () => {
  const data = freshData()
  await succeeds(data, 'account create acme')
  const database = new DatabaseSync(join(String(data.ROWPORT_DATA), 'rowport.db'))
  database.exec('alter table api_key rename to gone')
  database.close()
  await assertFails(
    data,
    'key list acme',
    /^rowport: the data in \/\S+ cannot be used: no such table: .*api_key\n$/,
  )
})

let stores = 0

function freshData(): Record<string, string> {
  return { ROWPORT_DATA: join(folder, `data-${++stores}`) }
}

async function assertFails(env: Record<string, string>, line: string, said: RegExp): Promise<void> {
  const { code, stdout, stderr } = await run(env, line.split(' '))
  assert.equal(code, 1, line)
  assert.equal(stdout, '', line)
  assert.match(stderr.replace(newStore, ''), said)
  assert.doesNotMatch(stderr, /^ +at /m, 'no stack trace')
}

async function succeeds(env: Record<string, string>, line: string): Promise<string> {
  const { code, stdout, stderr } = await run(env, line.split(' '))
  assert.deepEqual({ code, stderr: stderr.replace(newStore, '') }, { code: 0, stderr: '' }, line)
  return stdout
}

const newStore = /^rowport: there was no store in .*\n/

async function run(env: Record<string, string>, words: readonly string[]) {
  const stdout: string[] = []
  const stderr: string[] = []
  const code = await cli(words, {
    env,
    stdout: { write: (text) => stdout.push(text) },
    stderr: { write: (text) => stderr.push(text) },
  })
  return { code, stdout: stdout.join(''), stderr: stderr.join('') }
}
