import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTargets, type Target, TargetRefusal } from './targets.ts'

const found = (target: Target | TargetRefusal) =>
  target instanceof TargetRefusal ? target.reason : target.addresses

function targetsOf(names: Record<string, string[]>, allowedNetworks: string[] = []) {
  return createTargets({ allowedNetworks, resolveName: async (name) => names[name] ?? [] })
}

const notPublic = 'its host is not on the public internet'

test('every address that is not public is refused, in whatever form it is written', async () => {
  const { find } = targetsOf({})
  const written = [
    ...['127.0.0.1', '127.1', '0x7f000001', '2130706433', '017700000001', '0', '10.1.2.3', '172.31.0.1'],
    ...['192.168.1.1', '169.254.169.254', '100.64.0.1', '192.0.0.192', '198.18.0.1', '224.0.0.1'],
    ...['240.0.0.1', '255.255.255.255', '203.0.113.9'],
    ...['[::1]', '[::]', '[fe80::1]', '[fc00::1]', '[fd12:3456::1]', '[ff02::1]', '[fec0::1]', '[100::1]'],
    // IPv4 in IPv6 clothes: mapped, compatible, translated, NAT64, 6to4, Teredo.
    ...[
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[::ffff:0:10.0.0.1]',
      '[64:ff9b::10.0.0.1]',
    ],
    ...[
      '[64:ff9b:1::a00:1]',
      '[2002:7f00:1::1]',
      '[2002:0a00:0001::]',
      '[2001:0:7f00:1::1]',
      '[2001:db8::1]',
    ],
    ...['localhost', 'a.localhost', 'LOCALHOST.'],
  ]
  for (const host of written) assert.equal(found(await find(`https://${host}/hook`)), notPublic, host)
  assert.deepEqual(found(await find('https://93.184.216.34/')), ['93.184.216.34'])
  assert.deepEqual(found(await find('https://[2606:4700::1111]/')), ['2606:4700::1111'])
})

test('a name is as good as the worst of its addresses', async () => {
  const { find } = targetsOf({
    'good.example': ['93.184.216.34', '2606:4700::1111'],
    'mixed.example': ['93.184.216.34', '10.0.0.1'],
    'mapped.example': ['::ffff:10.0.0.1'],
    'odd.example': ['not an address'],
  })
  assert.deepEqual(found(await find('https://good.example/x?y=1')), ['93.184.216.34', '2606:4700::1111'])
  assert.equal(found(await find('https://mixed.example/')), notPublic)
  assert.equal(found(await find('https://mapped.example/')), notPublic)
  assert.equal(found(await find('https://odd.example/')), 'the name of its host has no IP address')
  assert.equal(found(await find('https://unknown.example/')), 'the name of its host has no IP address')
})

test('https, the usual port or a high one, no login, no fragment', async () => {
  const { find } = targetsOf({ 'good.example': ['93.184.216.34'] })
  for (const [url, expected] of Object.entries({
    'http://good.example/': 'its URL must begin with https://',
    'ftp://good.example/': 'it is not a URL such as https://example.com/hook',
    'good.example': 'it is not a URL such as https://example.com/hook',
    'https://': 'it is not a URL such as https://example.com/hook',
    [`https://good.example/${'x'.repeat(2_000)}`]: 'it is not a URL such as https://example.com/hook',
    'https://me:secret@good.example/': 'its URL must not have a user name or password',
    'https://good.example/#top': 'its URL must not have a fragment (#…)',
    'https://good.example:22/': 'its port must be 443 or 1024 and above',
    'https://good.example:25/': 'its port must be 443 or 1024 and above',
    'https://good.example:80/': 'its port must be 443 or 1024 and above',
  })) {
    assert.equal(found(await find(url)), expected, url)
  }
  assert.deepEqual(found(await find('https://good.example:8443/')), ['93.184.216.34'])
})

test('what the operator allows is reached, also without TLS, and nothing beside it', async () => {
  const names = {
    'in.example': ['10.1.0.5'],
    'beside.example': ['10.2.0.5'],
    'clothes.example': ['::ffff:10.1.0.5'],
    'both.example': ['10.1.0.5', '93.184.216.34'],
    'out.example': ['93.184.216.34'],
  }
  const { find } = targetsOf(names, ['10.1.0.0/16', '127.0.0.1'])
  assert.deepEqual(found(await find('http://in.example/')), ['10.1.0.5'])
  assert.deepEqual(found(await find('https://in.example/')), ['10.1.0.5'])
  assert.deepEqual(found(await find('http://localhost:3000/')), ['127.0.0.1'])
  assert.deepEqual(found(await find('https://both.example/')), ['10.1.0.5', '93.184.216.34'])
  assert.equal(found(await find('https://beside.example/')), notPublic)
  assert.equal(found(await find('https://clothes.example/')), notPublic)
  for (const plain of ['http://out.example/', 'http://both.example/', 'http://beside.example/']) {
    assert.equal(found(await find(plain)), 'its URL must begin with https://', plain)
  }
})
