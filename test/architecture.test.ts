import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

/** Those beyond a network: every folder of `providers/` but what they share, and files. A new one has its rule already. */
const remoteProviders = globSync('src/providers/*/')
  .map((folder) =>
    normalize(folder)
      .replace(/^src\//, '')
      .replace(/\/$/, ''),
  )
  .filter((place) => place !== 'providers/remote' && place !== 'providers/file')

/**
 * Arrows go down only (ARCHITECTURE.md). Each place may import itself and what is listed; siblings do not know each
 * other, and adapters are named in `assemble/` alone.
 */
const mayImport: Record<string, readonly string[]> = {
  leaf: [],
  sinks: ['leaf'],
  store: ['leaf'],
  'store/sql/sqlite': ['leaf', 'store'],
  'store/sql/postgres': ['leaf', 'store'],
  'shared-state': ['leaf'],
  'shared-state/redis': ['leaf', 'shared-state'],
  mail: ['leaf', 'store'],
  'mail/smtp': ['leaf', 'mail'],
  admission: ['leaf', 'store', 'shared-state'],
  sheets: ['leaf', 'store', 'shared-state'],
  changes: ['leaf', 'sheets', 'store'],
  webhooks: ['leaf', 'changes', 'sheets', 'store'],
  'providers/remote': ['leaf', 'sheets', 'store', 'shared-state'],
  'providers/file': ['leaf', 'sheets'],
  ...Object.fromEntries(
    remoteProviders.map((place) => [place, ['leaf', 'sheets', 'providers/remote', 'store', 'shared-state']]),
  ),
  providers: ['leaf', 'sheets', ...remoteProviders, 'providers/file'],
  // Signing in with Google is one of the owner's verbs, and so is bringing a file. How spreadsheets are connected is
  // a port (`sheets/connection.ts`): nothing here knows who is behind it.
  management: [
    'leaf',
    'admission',
    'sheets',
    'providers/remote',
    'providers/google',
    'providers/file',
    'store',
    'shared-state',
    'usage',
    'mail',
    'changes',
    'webhooks',
  ],
  usage: ['leaf', 'store'],
  http: ['leaf'],
  api: ['leaf', 'http', 'admission', 'changes', 'sheets'],
  dashboard: ['leaf', 'http', 'management', 'changes'],
  // What agents ask for goes through the API, which is handed in: nothing here could get past a check.
  agents: ['leaf', 'http'],
  // What a form sends is read as the API reads it.
  forms: ['leaf', 'http', 'api', 'admission', 'sheets', 'management'],
  server: ['leaf', 'sinks', 'http', 'api', 'dashboard', 'forms'],
  assemble: [
    'leaf',
    'sinks',
    'server',
    'http',
    'api',
    'agents',
    'dashboard',
    'forms',
    'management',
    'admission',
    'changes',
    'webhooks',
    'sheets',
    'store',
    'shared-state',
    'usage',
    'mail',
    '*adapters*',
  ],
  doctor: ['leaf', 'assemble', 'store', 'providers/file'],
  commands: ['leaf', 'doctor', 'assemble', 'management', 'sheets', 'store', 'providers', 'providers/file'],
  process: ['leaf', 'sinks', 'assemble', 'commands', 'management', 'sheets', 'store', 'providers/file'],
}

/** Files and folders that are no place of their own. */
const belongsTo: Record<string, string> = {
  'src/clock.ts': 'leaf',
  'src/config.ts': 'leaf',
  'src/errors.ts': 'leaf',
  'src/free-space.ts': 'leaf',
  'src/plain-words.ts': 'leaf',
  'src/heap-growth.ts': 'leaf',
  'src/soon.ts': 'leaf',
  'src/json-marks.ts': 'leaf',
  // A table that imports nothing, for all who say what can be asked for.
  'src/sheets/rows/query/operators.ts': 'leaf',
  'src/timers.ts': 'leaf',
  'src/reporting/observe.ts': 'leaf',
  'src/secrets': 'leaf',
  'src/shares': 'leaf',
  'src/reporting': 'sinks',
  'src/main.ts': 'process',
  'src/cli.ts': 'process',
  'src/first-start': 'process',
}
const adapters = [
  'store/sql/sqlite',
  'store/sql/postgres',
  'shared-state/redis',
  'mail/smtp',
  'providers',
  'providers/remote',
  'providers/file',
  ...remoteProviders,
]

test('every import in src goes down', () => {
  const wrong: string[] = []
  for (const file of sources()) {
    const from = placeOf(file)
    for (const imported of importsOf(file)) {
      const to = placeOf(imported)
      if (to !== from && !allowed(from).includes(to))
        wrong.push(`${file} (${from}) imports ${imported} (${to})`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('the rule is not empty: it finds a door that reaches for the store', () => {
  assert.ok(!allowed('api').includes('store'))
  assert.ok(!allowed('sheets').includes('admission'))
  assert.ok(!allowed('providers/google').includes('providers/file'))
  assert.ok(importsOf('src/api/read-rows.ts').includes('src/errors.ts'))
})

test('no imports go in a circle, not even by types', () => {
  const files = globSync('{src,client/src,emulator,web/src,bench,scripts,test}/**/*.{ts,tsx}', {
    exclude: ['**/node_modules/**', '**/dist/**'],
  })
  assert.deepEqual(circlesAmong(new Map(files.map((file) => [file, importsOf(file)]))), [])
  const looped = new Map([
    ['one', ['two']],
    ['two', ['three']],
    ['three', ['one', 'leaf']],
    ['leaf', []],
  ])
  assert.deepEqual(circlesAmong(looped), ['one → two → three → one'])
})

/** Owners connect their spreadsheets, and use them, without anybody's knowing who is behind the port. */
const namesGoogle: Record<string, string> = {
  'src/assemble/homes.ts': 'builds it',
  'src/assemble/inspection.ts': 'what a proof has switched off there, for the doctor',
  'src/providers/provider-table.ts': 'lists it',
  'src/management/people/google-identity.ts':
    'signing in with Google, which is no connection of spreadsheets',
}

test('nobody imports what is Google’s but who builds it, lists it or signs in with it', () => {
  const names = sources().filter(
    (file) =>
      placeOf(file) !== 'providers/google' &&
      importsOf(file).some((imported) => placeOf(imported) === 'providers/google'),
  )
  assert.deepEqual(names.sort(), Object.keys(namesGoogle).sort())
})

const comments = /\/\*[\s\S]*?\*\//g

/** In the app as well: its words come with the sources that the server offers. */
test('no page that connects, chooses or shows sheets names a provider', () => {
  // Signing in with Google is one of the ways in, and says so.
  const pages = globSync('web/src/pages/**/*.{ts,tsx}', { exclude: ['**/sign-in/**'] })
  assert.ok(pages.length > 20, 'there are some to look at')
  const named = pages.filter((file) =>
    /['"`>][^'"`<]*google/i.test(readFileSync(file, 'utf8').replace(comments, '')),
  )
  assert.deepEqual(named, [])
})

test('no folder has more than twenty files side by side, but for their tests', () => {
  const files = globSync('{src,emulator,web/src}/**/*.{ts,tsx}').filter(
    (file) => !/\.(?:test|contract|fixture)\.ts$/.test(file),
  )
  const folders = Map.groupBy(files, (file) => dirname(file))
  const large = [...folders].filter(([, inside]) => inside.length > 20)
  assert.deepEqual(
    large.map(([folder, inside]) => `${folder}: ${inside.length}`),
    [],
  )
})

test('only config.ts and the process read the environment, and nobody logs past the log', () => {
  const reads = sources().filter((file) => /process\.env/.test(readFileSync(file, 'utf8')))
  assert.deepEqual(reads.sort(), ['src/cli.ts', 'src/main.ts'])
  const logs = sources().filter((file) => /console\.|from 'pino'/.test(readFileSync(file, 'utf8')))
  assert.deepEqual(logs.sort(), ['src/cli.ts', 'src/main.ts', 'src/reporting/log.ts'])
})

/** Whatever lasts goes by `elapsedMs` or by the store's clock (docs/decisions/016); these are told, or mean a calendar. */
const asksForTimeOfDay: Record<string, string> = {
  'src/clock.ts': 'the clock itself',
  'src/assemble/databases.ts': 'when a migration was applied, for the record',
  'src/admission/key-use.ts': 'when a key was last used, for people',
  'src/admission/quota.ts': 'which months can be forgotten',
  'src/assemble/inspection.ts': 'how far another machine’s is ahead',
  'src/dashboard/owner-api/account-verbs.ts': 'when an export was made',
  'src/dashboard/owner-api/key-verbs.ts': 'which keys are over, for people; the store judges requests',
  'src/dashboard/owner-api/sheet-verbs.ts': 'when rows were last fetched, for people',
  'src/dashboard/owner-api/webhook-verbs.ts': 'when the next attempt comes, for people',
  'src/management/alerts/alerts.ts': 'which months are over',
  'src/management/webhooks/account-events.ts': 'which months are over, and when an event was found',
  'src/management/webhooks/webhooks.ts': 'when a test was sent, for people',
  'src/webhooks/outgoing.ts': 'when it was found that changes are missing, for receivers',
  'src/webhooks/posting.ts': 'against a date that a receiver names',
  'src/webhooks/signed-post.ts': 'when an attempt was made, for receivers and people',
  'src/management/uploads/upload-room.ts': 'against the time of a file',
  'src/management/people/sign-in.ts': 'until when a link is good, for people',
  'src/management/accounts/usage-figures.ts': 'which days and which month are shown',
  'src/shared-state/rate-windows/memory-rate-windows.ts': 'when a window ends, for clients',
  'src/changes/change-log.ts': 'when a change was seen, for people',
  'src/sheets/reading/fetching.ts': '`as_of`',
  'src/sheets/reading/viewing.ts': '`as_of`',
  'src/api/write-rows.ts': 'what `now()` of a policy writes',
  'src/forms/door.ts': 'when a page was shown, by the token in it, and what `now()` writes',
  'src/forms/release-entries.ts': 'what `now()` writes',
  'src/store/forms/form-queries.ts': 'when a form was made and an entry came, for people',
  'src/sheets/writing/writing.ts': 'where ids of operations stand in an index; wrong ones only cost pages',
  'src/sheets/writing/sending.ts': '`as_of` of what a write has shown, and when it was made',
  'src/providers/google/oauth/service-account.ts': 'when an assertion was made, for Google',
  'src/providers/file/file-provider.ts': 'against the time of a file',
  'src/providers/file/read-file.ts': 'against the time of a file',
  'src/providers/file/settling.ts': 'against the time of a file',
  'src/store/audit/audit-queries.ts': 'when something was changed, for people',
  'src/store/accounts/account-queries.ts': 'when it was made: months are counted from there',
  'src/store/credentials/credential-queries.ts': 'when it was connected, for people',
  'src/store/proofs/proof-queries.ts': 'when it was tried, for people',
  'src/store/keys/key-queries.ts': 'when it was made and revoked, for people',
  'src/store/owners/owner-queries.ts':
    'when an account was made: months are counted from there; when an address was verified',
  'src/store/sheets/sheet-queries.ts': 'when it was made, for people',
  'src/store/webhooks/webhook-queries.ts': 'when it was made, for people',
  'src/store/sql/sqlite/machine-time.ts': 'what the store’s clock is set by',
  'src/store/sql/sqlite/sqlite-database.ts': 'for billing months',
  'src/usage/usage.ts': 'which day a request belongs to',
}

test('nobody asks for the time of day but those who tell it, or mean a calendar', () => {
  const asks = sources().filter((file) =>
    /\bclock\.nowMs\(|\bDate\.now\b|new Date\(\)/.test(readFileSync(file, 'utf8')),
  )
  assert.ok(asks.length > 0)
  assert.deepEqual(
    asks.filter((file) => !(file in asksForTimeOfDay)),
    [],
  )
})

/** Types are left out: those of which an exported function speaks may be named by whoever calls it. */
test('no function and no value is exported that nobody takes', () => {
  const taken = new Set<string>()
  for (const file of globSync('{src,client/src,test,web/src,scripts,bench,emulator}/**/*.{ts,tsx}')) {
    const text = readFileSync(file, 'utf8')
    for (const [, names = '', path = ''] of text.matchAll(/(?:im|ex)port \{([^}]*)\} from '(\.[^']+)'/g)) {
      const from = normalize(join(dirname(file), path))
      for (const name of names.matchAll(/(?<!\bas )\b\w+/g)) taken.add(`${from} ${name}`)
    }
    // Worker threads, and what is loaded only where it is needed, are named by their file.
    for (const [, path = ''] of text.matchAll(/(?:import|new URL)\('(\.[^']+)'/g))
      taken.add(normalize(join(dirname(file), path)))
  }
  const exported = globSync('src/**/*.ts').flatMap((file) =>
    taken.has(file)
      ? []
      : [...readFileSync(file, 'utf8').matchAll(exportedValue)].map(([, name]) => `${file} ${name}`),
  )
  assert.ok(exported.length > 500, 'there are some to look at')
  assert.deepEqual(
    exported.filter((name) => !taken.has(name)),
    [],
  )
})

const exportedValue = /^export (?:async )?(?:function\*?|const|let|class) (\w+)/gm

test('no utils, helpers or common, and no file that only passes on', () => {
  assert.deepEqual(
    sources().filter((file) => /(?:^|\/)(?:utils?|helpers?|common|misc|index)(?:\.ts|\/)/.test(file)),
    [],
  )
})

test('functions say what they do, and comments begin with what they are about', () => {
  const participle =
    /function \*?((?:un)?(?:[a-z]*[^e]ed|made|told|kept|given|taken|written|shown|found|held|sent|known|seen|done|lost))\b/g
  const ellipsis = /\/\*\*\s*(?:\*\s*)?((?:Of|So|The same)\b[^\n]*)/g
  const found = sources().flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    return [...text.matchAll(participle), ...text.matchAll(ellipsis)].map(([, words]) => `${file}: ${words}`)
  })
  assert.deepEqual(found, [])
})

/**
 * What a page sends is what it was given at the click. A function inside a component would send what is on the screen by
 * then, perhaps another row; one of the module knows only its arguments.
 */
test('nothing that a page sends is made in a component', () => {
  const wrong: string[] = []
  let count = 0
  for (const file of globSync('web/src/**/*.{ts,tsx}')) {
    const text = readFileSync(file, 'utf8')
    const mutations = text.match(/\buseMutation\(/g)?.length ?? 0
    const functions = [...text.matchAll(/\bmutationFn: (\w+),?\s/g)].map(([, name]) => name ?? '')
    count += mutations
    if (functions.length !== mutations) wrong.push(`${file}: a mutationFn is not just a name`)
    for (const name of functions)
      if (!new RegExp(`^(?:async )?(?:function|const) ${name}\\b`, 'm').test(text))
        wrong.push(`${file}: ${name} is not a function of the module`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(count > 10, 'there are some to look at')
})

test('what pages ask the server for is said once, in queries.ts', () => {
  const asking = globSync('web/src/**/*.{ts,tsx}').filter((file) =>
    /\bqueryFn:|\bqueryKey: \[|\bget\('GET /.test(readFileSync(file, 'utf8')),
  )
  assert.deepEqual(asking, ['web/src/queries.ts'])
})

function allowed(place: string): readonly string[] {
  const places = mayImport[place]
  assert.ok(places, `${place} has no rule`)
  return places.flatMap((name) => (name === '*adapters*' ? adapters : [name]))
}

function sources(): string[] {
  return globSync('src/**/*.ts').filter((file) => !/\.(?:test|contract|fixture)\.ts$/.test(file))
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const relative = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+\.tsx?)'/g)].map(([, path]) => path ?? '')
  return relative.map((path) => normalize(join(dirname(file), path)))
}

/** The first circle that each way into one runs into. */
function circlesAmong(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const follow = (file: string, way: readonly string[]): void => {
    const metAt = way.indexOf(file)
    if (metAt !== -1) circles.push([...way.slice(metAt), file].join(' → '))
    if (metAt !== -1 || done.has(file)) return
    for (const imported of imports.get(file) ?? []) follow(imported, [...way, file])
    done.add(file)
  }
  for (const file of imports.keys()) follow(file, [])
  return circles
}

function placeOf(file: string): string {
  const known = belongsTo[file] ?? belongsTo[dirname(file)]
  if (known) return known
  const folder = dirname(file).replace(/^src\//, '')
  const place = Object.keys(mayImport)
    .filter((name) => folder === name || folder.startsWith(`${name}/`))
    .sort((one, other) => other.length - one.length)[0]
  assert.ok(place, `${file} lies in no place of the architecture`)
  return place
}
