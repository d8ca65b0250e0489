import assert from 'node:assert/strict'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { type Config, parseConfig } from './config.ts'
import { defaultShares } from './shares/shares.ts'

test('the variable in which clients of the docs keep their key is no misspelt setting', () => {
  assert.equal(parsed({ ROWPORT_KEY: 'sk_live_x' }).port, 8787)
  assert.match(problemsOf({ ROWPORT_KEYS: 'sk_live_x' })[0] ?? '', /^ROWPORT_KEYS: there is no such setting/)
})

test('without settings everything has a value', () => {
  assert.deepEqual(parsed({}), {
    host: '127.0.0.1',
    port: 8787,
    baseUrl: 'http://localhost:8787',
    isBaseUrlSet: false,
    npxPackage: null,
    dataFolder: resolve('data'),
    store: { kind: 'sqlite', path: resolve('data/rowport.db') },
    redisUrl: null,
    logLevel: 'info',
    maxSnapshotBytes: 512 * 1024 * 1024,
    plans: {},
    shares: defaultShares,
    trustedProxies: [],
    refusalsPerMinute: 600,
    secret: null,
    formerSecrets: [],
    nextSecret: null,
    unreadyMs: 0,
    google: { client: null, apiKey: null, areWritesOff: false, endpoint: null, scope: 'drive.file' },
    signUpPlan: null,
    defaultPlan: 'unlimited',
    mail: null,
    webhookNetworks: [],
    captcha: { endpoint: null, answerWithinMs: 5_000 },
  } satisfies Config)
})

test('every setting is heard', () => {
  const config = parsed({
    HOST: '0.0.0.0',
    PORT: '9000',
    BASE_URL: 'https://sheets.example.com/rowport/',
    ROWPORT_DATA: 'elsewhere',
    ROWPORT_LOG_LEVEL: 'debug',
    ROWPORT_SNAPSHOT_MB: '64',
    ROWPORT_PLANS: '{"team": {"requests_per_minute": 5, "requests_per_month": null, "write_api": true}}',
    ROWPORT_SHARES: '{"sheets": 7}',
    ROWPORT_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    ROWPORT_REFUSALS_PER_MINUTE: '30',
    ROWPORT_UNREADY_SECONDS: '20',
    ROWPORT_SECRET: 'a secret of some length',
    ROWPORT_FORMER_SECRETS: 'the one before that, and one from long ago',
    ROWPORT_NEXT_SECRET: 'the one that is to come',
    GOOGLE_CLIENT_ID: 'id.apps.googleusercontent.com',
    GOOGLE_CLIENT_SECRET: 'short',
    GOOGLE_API_KEY: 'AIza-an-api-key-of-google',
    GOOGLE_WRITES: 'off',
    GOOGLE_ENDPOINT: 'http://localhost:9010/',
    CAPTCHA_ENDPOINT: 'http://localhost:9011/',
    GOOGLE_SCOPE: 'spreadsheets',
    ROWPORT_SIGN_UP: 'on',
    ROWPORT_SIGN_UP_PLAN: 'team',
    ROWPORT_DEFAULT_PLAN: 'house',
    SMTP_URL: 'smtps://mailer%40example.com:p%2Fw@smtp.example.com',
    MAIL_FROM: 'Rowport <rowport@example.com>',
    ROWPORT_WEBHOOK_ALLOW: '10.1.0.0/16, fd00::/8',
  })
  const dataFolder = resolve('elsewhere')
  assert.deepEqual(config, {
    host: '0.0.0.0',
    port: 9000,
    baseUrl: 'https://sheets.example.com/rowport',
    isBaseUrlSet: true,
    npxPackage: null,
    dataFolder,
    store: { kind: 'sqlite', path: join(dataFolder, 'rowport.db') },
    redisUrl: null,
    logLevel: 'debug',
    maxSnapshotBytes: 64 * 1024 * 1024,
    plans: { team: { requestsPerMinute: 5, requestsPerMonth: null, writeApi: true } },
    shares: { ...defaultShares, sheets: 7 },
    trustedProxies: ['10.0.0.0/8', '::1'],
    refusalsPerMinute: 30,
    secret: 'a secret of some length',
    formerSecrets: ['the one before that', 'and one from long ago'],
    nextSecret: 'the one that is to come',
    unreadyMs: 20_000,
    google: {
      client: { clientId: 'id.apps.googleusercontent.com', clientSecret: 'short' },
      apiKey: 'AIza-an-api-key-of-google',
      areWritesOff: true,
      endpoint: 'http://localhost:9010',
      scope: 'spreadsheets',
    },
    signUpPlan: 'team',
    defaultPlan: 'house',
    mail: {
      host: 'smtp.example.com',
      port: 465,
      isTlsFromStart: true,
      login: { user: 'mailer@example.com', password: 'p/w' },
      from: 'Rowport <rowport@example.com>',
    },
    webhookNetworks: ['10.1.0.0/16', 'fd00::/8'],
    captcha: { endpoint: 'http://localhost:9011', answerWithinMs: 5_000 },
  } satisfies Config)
})

test('a setting that is set to nothing counts as not set, as in a compose file', () => {
  const empty = { PORT: '', HOST: '', BASE_URL: '', ROWPORT_DATA: '', DATABASE_URL: '', ROWPORT_WRONG: '' }
  assert.deepEqual(parsed(empty), parsed({}))
})

test('the address that people are shown follows HOST and PORT', () => {
  const shown: [Record<string, string>, string][] = [
    [{ PORT: '3000' }, 'http://localhost:3000'],
    [{ HOST: '0.0.0.0' }, 'http://localhost:8787'],
    [{ HOST: '::' }, 'http://localhost:8787'],
    [{ HOST: '::1' }, 'http://localhost:8787'],
    [{ HOST: '192.168.1.20' }, 'http://192.168.1.20:8787'],
    [{ HOST: 'fd00::20' }, 'http://[fd00::20]:8787'],
    [{ HOST: 'nas.local', PORT: '80' }, 'http://nas.local:80'],
    [{ HOST: '192.168.1.20', BASE_URL: 'https://a.example//' }, 'https://a.example'],
  ]
  for (const [env, baseUrl] of shown) assert.equal(parsed(env).baseUrl, baseUrl)
})

test('a person who watches sees warnings only, unless they ask for more', () => {
  assert.equal(parsed({}, true).logLevel, 'warn')
  assert.equal(parsed({ ROWPORT_LOG_LEVEL: 'info' }, true).logLevel, 'info')
})

test('every wrong value is a problem, told by the name of its setting', () => {
  const wrong: Record<string, string[]> = {
    PORT: ['eighty', '-1', '65536', '80.5', '0x50', ' 80', '99999999999'],
    BASE_URL: [
      'rows.example.com',
      'ftp://rows.example.com',
      'http:rows.example.com',
      'http://',
      'https://user:pass@rows.example.com',
      'https://rows.example.com/?a=1',
      'https://rows.example.com/#top',
    ],
    ROWPORT_LOG_LEVEL: ['loud', 'INFO'],
    ROWPORT_WEBHOOK_ALLOW: ['localhost', '10.0.0.0/33', '*'],
    ROWPORT_SNAPSHOT_MB: ['0', '1GB', '-5'],
    ROWPORT_DAT: ['/srv'],
    REDIS_URL: ['localhost:6379', 'http://localhost'],
    ROWPORT_SECRET: [
      'too short',
      'with a comma, so it can never be a former one',
      'with a space at the end ',
    ],
    ROWPORT_NEXT_SECRET: ['too short', 'with a comma, so it can never be a former one'],
    ROWPORT_FORMER_SECRETS: ['too short', 'long enough for it,short', 'ends with a comma, as lists do,'],
    ROWPORT_REFUSALS_PER_MINUTE: ['0', 'many'],
    ROWPORT_UNREADY_SECONDS: ['-1', 'x', '301'],
    ROWPORT_TRUSTED_PROXIES: ['localhost', '10.0.0.0/33', '10.0.0', '::1/129', '10.0.0.1,'],
    ROWPORT_SHARES: ['many', '[]', '{"sheets": 0}', '{"sheets": 1.5}', '{"sheets": "10"}', '{"sheet": 10}'],
    ROWPORT_PLANS: [
      'gratis',
      '{"free": 60}',
      '{"free": {"requests_per_minute": 60}}',
      '{"free": {"requests_per_minute": 0, "requests_per_month": 1, "write_api": false}}',
      '{"FREE!": {"requests_per_minute": 1, "requests_per_month": 1, "write_api": false}}',
      '{"free": {"requests_per_minute": 1, "requests_per_month": 1, "write_api": false, "extra": 1}}',
    ],
    GOOGLE_CLIENT_ID: ['123-abc'],
    GOOGLE_CLIENT_SECRET: ['GOCSPX-abc'],
    GOOGLE_API_KEY: ['too short'],
    GOOGLE_WRITES: ['never'],
    GOOGLE_ENDPOINT: ['nowhere at all'],
    CAPTCHA_ENDPOINT: ['nowhere at all', 'http://h/path'],
    GOOGLE_SCOPE: ['drive.file'],
  }
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const [problem = '', ...others] = problemsOf({ [name]: value })
      assert.deepEqual(others, [], `one problem for ${name}=${value}`)
      assert.ok(problem.startsWith(`${name}: `), problem)
      const isLong = value.length > 3
      assert.ok(!(isLong && problem.includes(value)), `${name}: a value may be a secret and is not repeated`)
    }
  }
})

test('mail needs a server and a sender, and then has the usual ports', () => {
  const from = { MAIL_FROM: 'rowport@example.com' }
  const sent = (SMTP_URL: string) => parsed({ SMTP_URL, ...from }).mail
  const plain = { host: 'mail.example.com', isTlsFromStart: false, login: null, from: from.MAIL_FROM }
  assert.deepEqual(sent('smtp://mail.example.com'), { ...plain, port: 587 })
  assert.deepEqual(sent('smtp://mail.example.com:25'), { ...plain, port: 25 })
  assert.equal(sent('smtps://mail.example.com')?.port, 465)
  assert.equal(sent('smtp://[::1]:25')?.host, '::1')
  assert.deepEqual(problemsOf(from), [
    'MAIL_FROM: needs SMTP_URL as well; set both, or neither to do without email',
  ])
  assert.deepEqual(problemsOf({ SMTP_URL: 'smtp://mail.example.com' }), [
    'SMTP_URL: needs MAIL_FROM as well; set both, or neither to do without email',
  ])
  for (const url of ['mail.example.com:25', 'https://mail.example.com', 'smtp:///x', 'smtp://u:100%@h']) {
    const [problem = '', ...others] = problemsOf({ SMTP_URL: url, ...from })
    assert.deepEqual(others, [], url)
    assert.ok(problem.startsWith('SMTP_URL: ') && !problem.includes(url), problem)
  }
  for (const wrong of ['nobody', 'a@b, c@d', 'Row\r\nBcc: x <a@b>', 'Rowport <a@b', 'a@b c']) {
    const [problem = '', ...others] = problemsOf({ SMTP_URL: 'smtp://h', MAIL_FROM: wrong })
    assert.deepEqual(others, [], wrong)
    assert.match(problem, /^MAIL_FROM: must be an email address such as/)
  }
})

test('Google needs both halves of its client, and then has defaults', () => {
  const both = { GOOGLE_CLIENT_ID: 'an id', GOOGLE_CLIENT_SECRET: 'a secret' }
  const defaults = {
    client: { clientId: 'an id', clientSecret: 'a secret' },
    apiKey: null,
    areWritesOff: false,
    endpoint: null,
    scope: 'drive.file',
  }
  assert.deepEqual(parsed(both).google, defaults)
  assert.deepEqual(problemsOf({ ...both, GOOGLE_CLIENT_SECRET: '', GOOGLE_SCOPE: 'spreadsheets' }), [
    'GOOGLE_CLIENT_ID: needs GOOGLE_CLIENT_SECRET as well; set both, or neither to do without consent',
  ])
  assert.deepEqual(problemsOf({ ...both, GOOGLE_CLIENT_ID: '', GOOGLE_ENDPOINT: 'http://h' }), [
    'GOOGLE_CLIENT_SECRET: needs GOOGLE_CLIENT_ID as well; set both, or neither to do without consent',
  ])
  for (const endpoint of ['https://google.example', 'http://127.0.0.1:9010', 'http://[::1]:9010']) {
    assert.equal(parsed({ ...both, GOOGLE_ENDPOINT: endpoint }).google?.endpoint, endpoint)
  }
  for (const wrong of [
    'localhost:9010',
    'ftp://h',
    'http://',
    'http:h',
    'http://h/path',
    'http://h//',
    'http://h?a=1',
    'http://h/#top',
    'http://user@h',
    'http://h:99999',
    ' http://h',
  ]) {
    assert.deepEqual(problemsOf({ ...both, GOOGLE_ENDPOINT: wrong }), [
      'GOOGLE_ENDPOINT: must be scheme, host and port alone, such as http://localhost:9010',
    ])
  }
  assert.deepEqual(problemsOf({ ...both, GOOGLE_SCOPE: 'drive' }), [
    'GOOGLE_SCOPE: must be one of drive.file, spreadsheets',
  ])
})

test('PostgreSQL and Redis take the place of what is embedded, and the secret must then be set', () => {
  const secret = 'the same on every instance'
  const url = 'postgresql://rowport:pass@db.example.com:5433/rowport?sslmode=require'
  const { store, redisUrl } = parsed({
    DATABASE_URL: url,
    REDIS_URL: 'rediss://cache.example.com:6380/1',
    ROWPORT_SECRET: secret,
  })
  assert.deepEqual(store, { kind: 'postgres', url })
  assert.equal(redisUrl, 'rediss://cache.example.com:6380/1')
  for (const wrong of ['mysql://localhost/rowport', 'postgres:rowport', 'rowport']) {
    assert.deepEqual(problemsOf({ DATABASE_URL: wrong, ROWPORT_SECRET: secret }), [
      'DATABASE_URL: must be a URL such as postgres://user:password@host/database',
    ])
  }
  assert.deepEqual(problemsOf({ DATABASE_URL: url }), [
    'ROWPORT_SECRET: is needed with DATABASE_URL, the same on every instance',
  ])
})

test('a secret is a former one or the next one, not both', () => {
  const secrets = { ROWPORT_NEXT_SECRET: 'the one that is to come' }
  const both = { ...secrets, ROWPORT_FORMER_SECRETS: 'the one before that, the one that is to come' }
  assert.deepEqual(problemsOf(both), [
    'ROWPORT_NEXT_SECRET: is among ROWPORT_FORMER_SECRETS too; it is one or the other',
  ])
  assert.equal(
    parsed({ ...secrets, ROWPORT_SECRET: 'the one that is to come' }).nextSecret,
    secrets.ROWPORT_NEXT_SECRET,
  )
})

test('all problems are listed at once', () => {
  assert.deepEqual(
    problemsOf({ PORT: 'x', BASE_URL: 'y', ROWPORT_SNAPSHOT_MB: 'z', REDIS_URL: 'http://h' }),
    [
      'PORT: must be a whole number from 0 to 65535',
      'BASE_URL: must be a URL such as https://sheets.example.com',
      'ROWPORT_SNAPSHOT_MB: must be a whole number from 1 to 1000000',
      'REDIS_URL: must be a URL such as redis://host:6379',
    ],
  )
})

test("other programs' settings are none of ours", () => {
  assert.deepEqual(parsed({ PATH: '/bin', PORTAL: 'x', rowport: 'y', XROWPORT_DATA: 'z' }), parsed({}))
})

function parsed(env: Record<string, string>, isTerminal = false): Config {
  const config = parseConfig(env, isTerminal)
  assert.ok(!('problems' in config), JSON.stringify(config))
  return config
}

function problemsOf(env: Record<string, string>): string[] {
  const config = parseConfig(env, false)
  assert.ok('problems' in config, `nothing wrong with ${JSON.stringify(env)}`)
  return config.problems
}
