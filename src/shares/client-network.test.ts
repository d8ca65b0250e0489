import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientNetwork } from './client-network.ts'

test('an IPv4 address is itself, an IPv6 address its /64, however it is written', () => {
  assert.equal(clientNetwork('192.0.2.7'), '192.0.2.7')
  const same = ['2001:db8::1', '2001:DB8:0:0:0:0:0:2', '2001:0db8::ffff:1:2:3', '2001:db8::192.0.2.1']
  for (const address of same) assert.equal(clientNetwork(address), '2001:db8:0:0', address)
  assert.equal(clientNetwork('2001:db8:0:1::1'), '2001:db8:0:1')
  assert.equal(clientNetwork('::1'), '0:0:0:0')
  assert.equal(clientNetwork('fe80::1%eth0'), 'fe80:0:0:0')
  assert.equal(clientNetwork('1:2:3:4:5:6:7:8'), '1:2:3:4')
  assert.equal(clientNetwork('::ffff:192.0.2.7'), '192.0.2.7')
  assert.equal(clientNetwork(''), '')
})
