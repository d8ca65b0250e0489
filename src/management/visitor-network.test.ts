import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf } from './visitor-network.ts'

test('an IPv4 address is itself, an IPv6 address its /64, however it is written', () => {
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
  const same = ['2001:db8::1', '2001:DB8:0:0:0:0:0:2', '2001:0db8::ffff:1:2:3', '2001:db8::192.0.2.1']
  for (const address of same) assert.equal(networkOf(address), '2001:db8:0:0::/64', address)
  assert.equal(networkOf('2001:db8:0:1::1'), '2001:db8:0:1::/64')
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64')
  assert.equal(networkOf('1:2:3:4:5:6:7:8'), '1:2:3:4::/64')
  assert.equal(networkOf(''), '')
})
