import assert from 'node:assert/strict'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { type Config, parseConfig } from './config.ts'

test('without settings everything has a value', () => {
  assert.deepEqual(parsed({}), {
    host: '127.0.0.1',
    port: 8787,
    baseUrl: 'http://localhost:8787',
    dataFolder: resolve('data'),
    store: { kind: 'sqlite', path: resolve('data/rowport.db') },
    logLevel: 'info',
    maxSnapshotBytes: 512 * 1024 * 1024,
    plans: {},
    trustedProxies: [],
    refusalsPerMinute: 600,
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
    ROWPORT_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    ROWPORT_REFUSALS_PER_MINUTE: '30',
    ROWPORT_SECRET: 'a secret of some length',
  })
  const dataFolder = resolve('elsewhere')
  assert.deepEqual(config, {
    host: '0.0.0.0',
    port: 9000,
    baseUrl: 'https://sheets.example.com/rowport',
    dataFolder,
    store: { kind: 'sqlite', path: join(dataFolder, 'rowport.db') },
    logLevel: 'debug',
    maxSnapshotBytes: 64 * 1024 * 1024,
    plans: { team: { requestsPerMinute: 5, requestsPerMonth: null, writeApi: true } },
    trustedProxies: ['10.0.0.0/8', '::1'],
    refusalsPerMinute: 30,
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
    ROWPORT_SNAPSHOT_MB: ['0', '1GB', '-5'],
    ROWPORT_DAT: ['/srv'],
    DATABASE_URL: ['postgres://localhost/rowport'],
    REDIS_URL: ['redis://localhost'],
    ROWPORT_SECRET: ['too short'],
    ROWPORT_REFUSALS_PER_MINUTE: ['0', 'many'],
    ROWPORT_TRUSTED_PROXIES: ['localhost', '10.0.0.0/33', '10.0.0', '::1/129', '10.0.0.1,'],
    ROWPORT_PLANS: [
      'gratis',
      '{"free": 60}',
      '{"free": {"requests_per_minute": 60}}',
      '{"free": {"requests_per_minute": 0, "requests_per_month": 1, "write_api": false}}',
      '{"FREE!": {"requests_per_minute": 1, "requests_per_month": 1, "write_api": false}}',
      '{"free": {"requests_per_minute": 1, "requests_per_month": 1, "write_api": false, "extra": 1}}',
    ],
    GOOGLE_CLIENT_ID: ['id'],
    GOOGLE_CLIENT_SECRET: ['secret'],
    GOOGLE_ENDPOINT: ['http://localhost:1'],
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

test('all problems are listed at once', () => {
  assert.deepEqual(
    problemsOf({ PORT: 'x', BASE_URL: 'y', ROWPORT_SNAPSHOT_MB: 'z', REDIS_URL: 'redis://h' }),
    [
      'PORT: must be a whole number from 0 to 65535',
      'BASE_URL: must be an address such as https://sheets.example.com',
      'ROWPORT_SNAPSHOT_MB: must be a whole number from 1 to 1000000',
      'REDIS_URL: Redis is not supported yet; leave it out to use the embedded default',
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
